import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { has } from './packages.ts';
import { CACHE, runQuietly, stopSignal } from './run.ts';

const RUN = '/var/run';
const PID_FILES = [
  { file: join(RUN, 'docker.pid'), program: 'dockerd' },
  { file: join(RUN, 'docker/containerd/containerd.pid'), program: 'containerd' },
];
const LOG = join(CACHE, 'dockerd.log');
const PATIENCE_MS = 60_000;

export type Docker =
  | { available: true /** Ends the daemon if it was started here. */; stop(): Promise<void> }
  | { available: false; reason: string };

/** A Docker Engine on the usual socket: the one that answers, else one started here, over what a killed one left behind. */
export async function provideDocker(): Promise<Docker> {
  if (await answers()) return { available: true, stop: async () => {} };
  if (process.env.DOCKER_HOST)
    return { available: false, reason: `no answer from DOCKER_HOST ${process.env.DOCKER_HOST}` };
  if (process.getuid?.() !== 0)
    return { available: false, reason: 'Docker does not answer, and only root can start it' };
  if (!has('dockerd') || !has('docker')) return { available: false, reason: 'Docker is not installed' };
  if (isLive(PID_FILES[0]!) && (await answersWithin(PATIENCE_MS / 2))) return { available: true, stop: async () => {} };

  removeStalePidFiles();
  await provideCgroups();
  const tried = new Set<string>();
  const flags: string[] = [];
  const env = { ...process.env };
  for (;;) {
    const daemon = launch(flags, env);
    if (await answersWithin(PATIENCE_MS, daemon)) return { available: true, stop: () => end(daemon) };
    await end(daemon);
    const remedy = remedyFor(readFileSync(LOG, 'utf8'));
    if (!remedy || tried.has(remedy) || stopSignal())
      return { available: false, reason: `dockerd does not start: ${lastWords(readFileSync(LOG, 'utf8'))}` };
    tried.add(remedy);
    if (remedy === 'vfs') flags.push('--storage-driver=vfs');
    if (remedy === 'legacy') env.PATH = `${legacyIptables()}:${env.PATH}`;
  }
}

async function answers() {
  if (!has('docker')) return false;
  return (await runQuietly('timeout', ['10', 'docker', 'info'])).code === 0;
}

async function answersWithin(patience: number, daemon?: ChildProcess) {
  for (const deadline = Date.now() + patience; Date.now() < deadline && !stopSignal(); await delay(200)) {
    if (daemon && daemon.exitCode !== null) return false;
    // The client waits on a daemon that has its socket and no answer yet: so look for the socket first.
    if (existsSync(join(RUN, 'docker.sock')) && (await answers())) return true;
  }
  return false;
}

/** A zombie counts as dead: where process 1 does not collect them, dockerd would wait for such a containerd in vain. */
function isLive({ file, program }: { file: string; program: string }) {
  try {
    const stat = readFileSync(`/proc/${readFileSync(file, 'utf8').trim()}/stat`, 'utf8');
    return stat.includes(`(${program}) `) && !stat.includes(') Z ');
  } catch {
    return false;
  }
}

/** dockerd refuses to start while the process id of a killed one belongs to anybody, zombies and strangers included. */
function removeStalePidFiles() {
  for (const pidFile of PID_FILES) if (!isLive(pidFile)) rmSync(pidFile.file, { force: true });
}

/** Minimal containers come without. */
async function provideCgroups() {
  const directory = '/sys/fs/cgroup';
  if (existsSync(directory) && readdirSync(directory).length === 0)
    await runQuietly('mount', ['-t', 'cgroup2', 'cgroup2', directory]);
}

function launch(flags: string[], env: NodeJS.ProcessEnv) {
  console.log(`Starting dockerd${flags.map((flag) => ` ${flag}`).join('')} …`);
  mkdirSync(CACHE, { recursive: true });
  const log = openSync(LOG, 'w');
  const daemon = spawn('dockerd', flags, { detached: true, stdio: ['ignore', log, log], env });
  daemon.once('error', () => {});
  closeSync(log);
  return daemon;
}

async function end(daemon: ChildProcess) {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    daemon.kill(signal);
    for (const deadline = Date.now() + 30_000; Date.now() < deadline; await delay(50))
      if (daemon.pid === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
  }
}

function remedyFor(log: string) {
  if (/iptables|nf_tables|ip6tables/i.test(lastWords(log))) return 'legacy';
  if (/storage-driver|overlay|graphdriver/i.test(lastWords(log))) return 'vfs';
  return undefined;
}

const lastWords = (log: string) =>
  log
    .split('\n')
    .filter((line) => /failed|error/i.test(line))
    .at(-1) ?? 'it said nothing';

/** A directory for the front of the PATH, where `iptables` is the legacy one: older kernels know nothing else. */
function legacyIptables() {
  const directory = join(CACHE, 'iptables-legacy');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const program of [
    'iptables',
    'iptables-save',
    'iptables-restore',
    'ip6tables',
    'ip6tables-save',
    'ip6tables-restore',
  ])
    symlinkSync(`/usr/sbin/${program.replace('tables', 'tables-legacy')}`, join(directory, basename(program)));
  return directory;
}
