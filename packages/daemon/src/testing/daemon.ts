import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DesiredContainer } from '@stagi/contract/daemon.ts';
import { labelsOf, ownerOf } from '../containerSpec.ts';
import { FLAGS } from '../flags.ts';
import { loadIdentity } from '../identity.ts';
import { pathsFrom } from '../paths.ts';
import { docker, TEST_IMAGE } from './image.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
/** `STAGID=/path/to/stagid` runs the same tests against a built daemon. */
function command(): { program: string; args: string[]; env: NodeJS.ProcessEnv } {
  const { STAGID } = process.env;
  if (!STAGID) return { program: process.execPath, args: [...FLAGS, MAIN], env: {} };
  return { program: STAGID, args: [], env: { LD_LIBRARY_PATH: dirname(STAGID) } };
}

/** A `stagid` of its own folder, as a process that can be killed. */
export interface TestDaemon {
  folder: string;
  env: NodeJS.ProcessEnv;
  /** What its containers bear. */
  labels: Record<string, string>;
  start(): void;
  /** Ends it by a signal and resolves to its exit code (null after SIGKILL). */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Resolves when it ends by itself. */
  exit(): Promise<number | null>;
  /** Runs another verb to its end. */
  run(...args: string[]): Promise<{ code: number | null; output: string }>;
  signal(signal: NodeJS.Signals): void;
  rssBytes(): Promise<number>;
  /** Of the sockets it holds open. */
  socketInodes(): Promise<Set<string>>;
  output(): string;
  /** When it said something that holds these words, by `Date.now()`. */
  saidAt(words: string): number[];
  cleanUp(): Promise<void>;
}

/** What a daemon needs of a platform to join it. */
export interface Host {
  node: string;
  token(): Promise<string>;
}

/** `within` is put in front of its command: `ip netns exec …`. */
export async function makeDaemon(platform: Host, { enrol = true, within = [] as string[] } = {}): Promise<TestDaemon> {
  const folder = await mkdtemp(join(tmpdir(), 'stagid-'));
  const env = {
    ...process.env,
    STAGI_CONFIG_DIR: join(folder, 'etc'),
    STAGI_STATE_DIR: join(folder, 'state'),
    STAGI_AUTHORIZED_KEYS: join(folder, 'ssh/authorized_keys'),
  };
  await mkdir(join(folder, 'etc'), { mode: 0o700 });
  let child: ChildProcess | null = null;
  let output = '';
  const labels: Record<string, string> = {};
  const said: { at: number; text: string }[] = [];

  function launch(args: string[]): ChildProcess {
    const { program, args: first, env: own } = command();
    const [head, ...rest] = [...within, program, ...first, ...args];
    const started = spawn(head!, rest, { env: { ...env, ...own }, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [started.stdout, started.stderr])
      stream?.on('data', (chunk) => {
        output += chunk;
        said.push({ at: Date.now(), text: String(chunk) });
      });
    return started;
  }
  async function codeOf(process: ChildProcess): Promise<number | null> {
    if (process.exitCode !== null || process.signalCode !== null) return process.exitCode;
    const [code] = await once(process, 'exit');
    return code;
  }
  async function learnLabels(): Promise<void> {
    const identity = await loadIdentity(pathsFrom(env));
    if (identity) Object.assign(labels, labelsOf(ownerOf(identity)));
  }
  const daemon: TestDaemon = {
    folder,
    env,
    labels,
    start() {
      child = launch(['run']);
    },
    async end(signal) {
      if (!child) return null;
      child.kill(signal);
      const code = await codeOf(child);
      child = null;
      return code;
    },
    exit: () => (child ? codeOf(child) : Promise.resolve(null)),
    async run(...args) {
      const before = output.length;
      const code = await codeOf(launch(args));
      return { code, output: output.slice(before) };
    },
    signal: (signal) => void child?.kill(signal),
    async rssBytes() {
      const status = await readFile(`/proc/${child?.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
    },
    async socketInodes() {
      const links = await Promise.all(
        (await readdir(`/proc/${child?.pid}/fd`)).map((fd) => readlink(`/proc/${child?.pid}/fd/${fd}`).catch(() => '')),
      );
      return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
    },
    output: () => output,
    saidAt: (words) => said.filter(({ text }) => text.includes(words)).map(({ at }) => at),
    async cleanUp() {
      await daemon.end('SIGKILL');
      // One that the test enrolled by itself has its identity by now.
      await learnLabels();
      if ('stagi.node' in labels) await removeContainersOf(labels);
      await rm(folder, { recursive: true, force: true });
    },
  };
  if (enrol) {
    await writeFile(join(folder, 'token'), await platform.token());
    const { code, output } = await daemon.run(
      'enrol',
      '--token-file',
      join(folder, 'token'),
      '--allow-cpu',
      '--allow-any-linux',
    );
    if (code !== 0) throw new Error(`enrolment failed: ${output}`);
    await learnLabels();
  }
  return daemon;
}

async function removeContainersOf(labels: Record<string, string>): Promise<void> {
  const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const found = await docker.listContainers({ all: true, filters: { label } });
  for (const { Id } of found) await docker.getContainer(Id).remove({ force: true });
}

export function container(
  id: number,
  script: string,
  more: Partial<Omit<DesiredContainer, 'spec'>> & { spec?: Partial<DesiredContainer['spec']> } = {},
): DesiredContainer {
  const { spec, ...rest } = more;
  return {
    id,
    gen: 1,
    slug: slugOf(id),
    state: 'running',
    ...rest,
    spec: {
      image: TEST_IMAGE,
      command: ['sh', '-c', script],
      env: [],
      nanoCpus: 5e8,
      memoryBytes: null,
      gpuIds: [],
      ports: [],
      directories: [],
      restartPolicy: 'no',
      ...spec,
    },
  };
}

/** Names are the machine's: several runs of the tests may share its Docker. */
export function slugOf(id: number): string {
  return `test-${process.pid}-${id}`;
}
