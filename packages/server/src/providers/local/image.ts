import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { text } from '@stagi/contract/text.ts';
import type Dockerode from 'dockerode';
import type { Logger } from 'pino';
import type { Readiness } from '../provider.ts';
import { callDocker, fallbackOnStatus } from './docker.ts';
import { freeGb } from './host.ts';
import { acquireLock, holderProgress } from './processLock.ts';
import * as recipe from './recipe.ts';
import { tar } from './tar.ts';

export interface MachineImage {
  /** Whether it can be used. A missing image is built in the background, at most once a minute. */
  state(): Promise<Readiness>;
  /** Aborts a build in progress; the next one starts from the beginning. */
  close(): Promise<void>;
}

const lockName = 'machine-image';
const retryAfterMs = 60_000;
const neededGb = 3;
/** The approximate number of lines per package that debootstrap and apt-get print, for the progress. */
const expectedLines = { debootstrap: 740, aptGet: 215 };

export function createMachineImage(options: { docker: Dockerode; log: Logger; dataDir: string }): MachineImage {
  const { docker, log, dataDir } = options;
  const abort = new AbortController();
  let build: { progress: Progress; done: Promise<void> } | null = null;
  let failure: { reason: string; at: number } | null = null;

  async function run(progress: Progress): Promise<void> {
    const lock = await acquireLock(lockName, progress.read);
    if (!lock) return; // another process builds it
    const started = performance.now();
    try {
      if (await imageExists(docker)) return;
      await removeOldBuilds(dataDir);
      await requireDiskSpace(docker, dataDir);
      await buildImage({ docker, log, dataDir, progress, signal: abort.signal });
      failure = null;
      log.info({ image: recipe.imageTag, seconds: secondsSince(started) }, 'the machine image is built');
      await removeOldImages(docker, log);
    } finally {
      lock.release();
    }
  }

  function current(): Progress {
    if (build) return build.progress;
    const progress = createProgress();
    const done = run(progress)
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        failure = { reason: error instanceof Error ? error.message : String(error), at: Date.now() };
        log.error({ err: error }, 'the machine image could not be built');
      })
      .finally(() => {
        build = null;
      });
    build = { progress, done };
    return progress;
  }

  return {
    async state() {
      if (build) return { state: 'preparing', ...build.progress.read() };
      if (await imageExists(docker)) return { state: 'ready' };
      const elsewhere = await holderProgress(lockName);
      if (elsewhere) return { state: 'preparing', ...elsewhere };
      if (failure && Date.now() < failure.at + retryAfterMs) return { state: 'unavailable', reason: failure.reason };
      if (abort.signal.aborted) return { state: 'unavailable', reason: text('The platform is shutting down') };
      return { state: 'preparing', ...current().read() };
    },
    async close() {
      abort.abort();
      await build?.done;
    },
  };
}

interface Progress {
  step: (name: string, progress: number) => void;
  read: () => { step: string; progress: number; since: Date };
}

function createProgress(): Progress {
  const current = { step: text('Looking for a base image'), progress: 0, since: new Date() };
  return {
    step: (step, progress) => Object.assign(current, { step, progress: Math.min(1, progress) }),
    read: () => ({ ...current }),
  };
}

interface Build {
  docker: Dockerode;
  log: Logger;
  dataDir: string;
  progress: Progress;
  signal: AbortSignal;
}

async function buildImage(build: Build): Promise<void> {
  const refusal = await pullBase(build);
  if (refusal === null) return buildFromBase(build);
  build.log.info({ refusal }, 'no base image can be had; the machine image is made from Debian packages');
  await buildFromPackages(build);
}

/** Why there is no base image; `null` when there is one. */
async function pullBase({ docker, progress, signal }: Build): Promise<string | null> {
  const local = await fallbackOnStatus(404, null, () =>
    callDocker('none', () => docker.getImage(recipe.baseImage).inspect()),
  );
  if (local) return null;
  try {
    // Docker answers when the registry has; only this has a timeout, not the download.
    const answered = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
    const events = await docker.pull(recipe.baseImage, { abortSignal: answered });
    progress.step(text('Downloading the base image'), 0.05);
    await followProgress(docker, events, () => {});
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error ? error.message.trim() : String(error);
  }
}

async function buildFromBase({ docker, progress, signal }: Build): Promise<void> {
  const context = tar([
    { path: 'Dockerfile', mode: 0o644, content: recipe.dockerfile },
    { path: 'stagi-init', mode: 0o755, content: recipe.initScript },
    { path: 'finish', mode: 0o644, content: recipe.finishScript },
  ]);
  progress.step(text('Installing packages'), 0.2);
  const buildOptions = { t: recipe.imageTag, forcerm: true, abortSignal: signal };
  const events = await docker.buildImage(Readable.from([context]), buildOptions);
  let lines = 0;
  await followProgress(docker, events, ({ stream = '' }) => {
    lines += stream.match(/^(Get:|Unpacking |Setting up )/gm)?.length ?? 0;
    progress.step(text('Installing packages'), 0.2 + 0.75 * Math.min(1, lines / expectedLines.aptGet));
  });
}

async function buildFromPackages(build: Build): Promise<void> {
  const { docker, dataDir, progress, signal, log } = build;
  if (process.getuid?.() !== 0) {
    throw new Error(
      text(
        'The machine image cannot be built: no container registry answers, and making it from Debian packages takes root. Start Stagi once as root, or give this machine access to a registry.',
      ),
    );
  }
  await mkdir(cloudDir(dataDir), { recursive: true });
  const work = await mkdtemp(join(cloudDir(dataDir), 'build-'));
  const root = join(work, 'root');
  try {
    await ensureDebootstrap(build);
    progress.step(text('Downloading packages'), 0.02);
    let lines = 0;
    await command(
      ['debootstrap', '--variant=minbase', `--include=${recipe.packages.join(',')}`, recipe.suite, root],
      signal,
      (line) => {
        lines += 1;
        const step = /^I: (Unpacking|Configuring|Extracting|Installing)/.test(line) ? 'Installing' : 'Downloading';
        progress.step(`${step} packages`, 0.02 + 0.86 * Math.min(1, lines / expectedLines.debootstrap));
      },
    );
    log.debug({ lines }, 'debootstrap is done');
    progress.step(text('Cleaning up'), 0.88);
    await writeFile(join(root, 'etc/apt/sources.list'), recipe.aptSources);
    await writeFile(join(root, 'tmp/finish'), recipe.finishScript);
    await mkdir(join(root, dirname(recipe.initPath)), { recursive: true });
    await writeFile(join(root, recipe.initPath), recipe.initScript);
    await chmod(join(root, recipe.initPath), 0o755);
    await command(['chroot', root, 'sh', '/tmp/finish'], signal);
    await rm(join(root, 'tmp/finish'));
    progress.step(text('Importing the image'), 0.9);
    await importRoot(docker, root, signal);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function ensureDebootstrap({ progress, signal }: Build): Promise<void> {
  if (await isInstalled('debootstrap', signal)) return;
  if (!(await isInstalled('apt-get', signal))) {
    throw new Error(
      text('The machine image cannot be built: no container registry answers, and debootstrap is not installed.'),
    );
  }
  progress.step(text('Installing debootstrap'), 0.01);
  try {
    await command(aptInstall, signal);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    // The package lists may be missing or outdated.
    await command(['apt-get', 'update'], signal);
    await command(aptInstall, signal);
  }
}

const aptInstall = [
  'env',
  'DEBIAN_FRONTEND=noninteractive',
  'apt-get',
  'install',
  '-y',
  '--no-install-recommends',
  'debootstrap',
  'debian-archive-keyring',
];

async function isInstalled(program: string, signal: AbortSignal): Promise<boolean> {
  try {
    await command(['sh', '-c', `command -v ${program}`], signal);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CommandError) return false;
    throw error;
  }
}

async function importRoot(docker: Dockerode, root: string, signal: AbortSignal): Promise<void> {
  const child = spawnContained(['tar', '-C', root, '--one-file-system', '-c', '.']);
  const finished = waitForExit(child, 'tar', signal);
  // A failed tar ends its stream early, which the import takes for a complete archive.
  const [repo = '', tag = ''] = recipe.imageTag.split(':');
  const events = await docker.importImage(child.stdout!, { repo, tag: `${tag}-importing`, abortSignal: signal });
  await Promise.all([followProgress(docker, events, () => {}), finished]);
  const imported = docker.getImage(`${recipe.imageTag}-importing`);
  await callDocker('possible', () => imported.tag({ repo, tag }));
  await callDocker('possible', () => imported.remove());
}

/** Runs a program, passes on its lines, and throws with the last of them when it fails. */
async function command(args: string[], signal: AbortSignal, onLine: (line: string) => void = () => {}): Promise<void> {
  signal.throwIfAborted();
  const child = spawnContained(args);
  const last: string[] = [];
  for (const output of [child.stdout!, child.stderr!]) {
    createInterface({ input: output }).on('line', (line) => {
      last.push(line);
      if (last.length > 5) last.shift();
      onLine(line);
    });
  }
  await waitForExit(child, args[0]!, signal, last);
}

/**
 * Runs a program in its own mount and process namespaces, which end with this process: its mounts (debootstrap mounts
 * /proc below the new root) and child processes are cleaned up even after SIGKILL.
 */
function spawnContained(args: string[]): ChildProcess {
  const contain = ['--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child', ...args];
  return spawn('setpriv', contain, { stdio: ['ignore', 'pipe', 'pipe'] });
}

class CommandError extends Error {}

/** Resolves when the program and its child processes have exited. */
function waitForExit(child: ChildProcess, name: string, signal: AbortSignal, last: string[] = []): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const kill = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  child.once('error', reject);
  child.once('close', (code, killer) => {
    signal.removeEventListener('abort', kill);
    if (code === 0) return resolve();
    reject(new CommandError(`${name} failed (${killer ?? `exit status ${code}`}): ${last.join(' | ')}`));
  });
  return promise;
}

interface EngineEvent {
  stream?: string;
  error?: string;
}

function followProgress(
  docker: Dockerode,
  events: NodeJS.ReadableStream,
  onEvent: (event: EngineEvent) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  docker.modem.followProgress(
    events,
    (error: Error | null) => (error ? reject(error) : resolve()),
    (event: EngineEvent) => onEvent(event),
  );
  return promise;
}

async function imageExists(docker: Dockerode): Promise<boolean> {
  const info = await fallbackOnStatus(404, null, () =>
    callDocker('none', () => docker.getImage(recipe.imageTag).inspect()),
  );
  return info !== null;
}

async function requireDiskSpace(docker: Dockerode, dataDir: string): Promise<void> {
  await mkdir(cloudDir(dataDir), { recursive: true });
  const { DockerRootDir } = (await callDocker('none', () => docker.info())) as { DockerRootDir: string };
  for (const dir of [cloudDir(dataDir), DockerRootDir]) {
    const free = await freeGb(dir);
    if (free !== null && free < neededGb) {
      throw new Error(
        text('The machine image needs {{needed}} GB of free disk space; {{free}} GB are free at {{dir}}.', {
          needed: neededGb,
          free: free.toFixed(1),
          dir,
        }),
      );
    }
  }
}

async function removeOldBuilds(dataDir: string): Promise<void> {
  await mkdir(cloudDir(dataDir), { recursive: true });
  const left = (await readdir(cloudDir(dataDir))).filter((name) => name.startsWith('build-'));
  await Promise.all(left.map((name) => rm(join(cloudDir(dataDir), name), { recursive: true, force: true })));
}

/** Removes unused images of earlier recipes after a week, as another version of Stagi may run beside this one. */
async function removeOldImages(docker: Dockerode, log: Logger): Promise<void> {
  const images = await callDocker('none', () => docker.listImages({ filters: { reference: ['stagi-machine'] } }));
  const old = images.filter(({ Created }) => Created * 1000 < Date.now() - 7 * 86_400_000);
  for (const tag of old.flatMap(({ RepoTags }) => RepoTags ?? [])) {
    if (tag === recipe.imageTag) continue;
    const removed = await fallbackOnStatus(409, 'in use', () =>
      callDocker('possible', () => docker.getImage(tag).remove()),
    );
    log.info({ image: tag, removed: removed !== 'in use' }, 'an old machine image was found');
  }
}

function cloudDir(dataDir: string): string {
  return join(dataDir, 'local-cloud');
}

function secondsSince(started: number): number {
  return Math.round((performance.now() - started) / 100) / 10;
}
