import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { labelsOf, ownerOf } from '../containerSpec.ts';
import { FLAGS } from '../flags.ts';
import { loadIdentity } from '../identity.ts';
import { pathsFrom } from '../paths.ts';
import { namesIn, releaseFolders } from '../volumes/bindFolders.ts';
import { docker, TEST_IMAGE } from './image.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
/** `STAGID=/path/to/stagid` runs the same tests against a built daemon. */
function daemonCommand(): { program: string; args: string[]; env: NodeJS.ProcessEnv } {
  const { STAGID } = process.env;
  if (!STAGID) return { program: process.execPath, args: [...FLAGS, MAIN], env: {} };
  return { program: STAGID, args: [], env: { LD_LIBRARY_PATH: dirname(STAGID) } };
}

/** A `stagid` process with its own folder, which a test can kill. */
export interface TestDaemon {
  folder: string;
  env: NodeJS.ProcessEnv;
  /** The Docker labels of its containers. */
  labels: Record<string, string>;
  start(): void;
  /** Sends a signal and resolves to the exit code (null after SIGKILL). */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Resolves when it exits by itself. */
  exit(): Promise<number | null>;
  /** Runs another subcommand to its end. */
  run(...args: string[]): Promise<{ code: number | null; output: string }>;
  signal(signal: NodeJS.Signals): void;
  rssBytes(): Promise<number>;
  /** Inodes of its open sockets. */
  socketInodes(): Promise<Set<string>>;
  output(): string;
  /** When it logged lines with these words, by `Date.now()`. */
  loggedAt(words: string): number[];
  cleanUp(): Promise<void>;
}

/** What a daemon needs from a platform to enrol. */
export interface EnrolmentHost {
  node: string;
  token(): Promise<string>;
}

/** `wrapper` is put in front of its command: `ip netns exec …`. */
export async function createDaemon(
  platform: EnrolmentHost,
  { enrol = true, wrapper = [] as string[] } = {},
): Promise<TestDaemon> {
  const folder = await mkdtemp(join(tmpdir(), 'stagid-'));
  const env = {
    ...process.env,
    STAGI_CONFIG_DIR: join(folder, 'etc'),
    STAGI_STATE_DIR: join(folder, 'state'),
    STAGI_RUN_DIR: join(folder, 'run'),
    STAGI_AUTHORIZED_KEYS: join(folder, 'ssh/authorized_keys'),
  };
  await mkdir(join(folder, 'etc'), { mode: 0o700 });
  let child: ChildProcess | null = null;
  let output = '';
  const labels: Record<string, string> = {};
  const said: { at: number; text: string }[] = [];

  function launch(args: string[]): ChildProcess {
    const { program, args: first, env: own } = daemonCommand();
    const [head, ...rest] = [...wrapper, program, ...first, ...args];
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
    loggedAt: (words) => said.filter(({ text }) => text.includes(words)).map(({ at }) => at),
    async cleanUp() {
      await daemon.end('SIGKILL');
      // A daemon that the test itself enrolled has an identity only now.
      await learnLabels();
      if ('stagi.node' in labels) await removeContainersOf(labels);
      await releaseVolumes(pathsFrom(env).volumes);
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
      // Tests have volumes in folders of their own.
      '--allow-any-folder',
    );
    if (code !== 0) throw new Error(`enrolment failed: ${output}`);
    await learnLabels();
  }
  return daemon;
}

/** Else the folder of the daemon would be removed with what is in the volumes. */
async function releaseVolumes(volumes: string): Promise<void> {
  for (const owner of await namesIn(volumes))
    for (const id of await namesIn(join(volumes, owner))) await releaseFolders(join(volumes, owner, id));
}

async function removeContainersOf(labels: Record<string, string>): Promise<void> {
  const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const found = await docker.listContainers({ all: true, filters: { label } });
  for (const { Id } of found) await removeContainer(Id);
}

/** Docker may still be at a removal that the daemon has asked for: 404 or 409, and the container is gone at its end. */
async function removeContainer(id: string): Promise<void> {
  const container = docker.getContainer(id);
  try {
    await container.remove({ force: true });
  } catch (error) {
    const { statusCode } = error as { statusCode?: number };
    if (statusCode === 404) return;
    if (statusCode !== 409) throw error;
    await container.wait({ condition: 'removed' }).catch((gone: { statusCode?: number }) => {
      if (gone.statusCode !== 404) throw gone;
    });
  }
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

/** Includes the process id, as several test runs may share one Docker. */
export function slugOf(id: number): string {
  return `test-${process.pid}-${id}`;
}
