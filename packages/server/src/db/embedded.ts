import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Cluster, chownTo, initialise, launch, openCluster, SUPERUSER, startError } from './embeddedCluster.ts';
import { findRunningServer, processesIn, processKey, readOwner, runsIn } from './embeddedProcess.ts';

export type EmbeddedPostgres = {
  /** Connection string of the database `stagi`. It names a Unix socket, so it works on this machine only. */
  url: string;
  /** The server was already running. */
  adopted: boolean;
  /** Stops the server, unless another live process owns it. Idempotent. */
  stop(): Promise<void>;
};

type Log = { info(line: string): void; warn(line: string): void };

type Options = {
  /** Created when missing; holds everything. */
  dataDir: string;
  log: Log;
  /** Server settings that override the defaults, such as `fsync: 'off'` for tests. */
  settings?: Record<string, string>;
};

const LOCK_TIMEOUT_MS = 30_000;

/**
 * Starts PostgreSQL in `dataDir`, or adopts the server that still runs there because its launcher was killed. Until `stop`
 * it is restarted whenever it dies. Fails with one line that says why.
 *
 * It listens only on a Unix socket in a directory of mode 0700: no port that may be in use, no password, and no other
 * user (in particular no rented machine) can connect.
 */
export async function startEmbeddedPostgres({ dataDir, log, settings = {} }: Options): Promise<EmbeddedPostgres> {
  const cluster = openCluster(dataDir, settings);
  const isOwner = claimOwnership(cluster);
  if (isOwner && !existsSync(cluster.data)) {
    log.info(`creating the database in ${cluster.root}`);
    initialise(cluster);
  }
  const first = await startOrAdopt(cluster, isOwner, log);
  await ensureDatabase(cluster);

  const keeper = isOwner ? supervise(cluster, first.pid, log) : undefined;
  const shutDown = async () => {
    if (!keeper) return;
    await shutDownServer(cluster, await keeper.release());
    rmSync(cluster.ownerFile, { force: true });
    if (!cluster.socketDir.startsWith(cluster.root)) rmSync(cluster.socketDir, { recursive: true, force: true });
  };
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= shutDown();
    return stopped;
  };
  return { url: urlOf(cluster, SUPERUSER), adopted: first.adopted, stop };
}

/** One live process owns the directory and may stop its server; other processes (tools, scripts) only share it. */
function claimOwnership({ ownerFile, uid }: Cluster) {
  const me = processKey(process.pid);
  const owner = readOwner(ownerFile);
  if (owner && owner !== me && owner === processKey(Number.parseInt(owner, 10))) return false;
  try {
    writeFileSync(ownerFile, `${me}\n`);
    chownTo(uid, ownerFile);
  } catch (error) {
    throw startError(`write ${ownerFile}`, error);
  }
  return true;
}

async function startOrAdopt(cluster: Cluster, isOwner: boolean, log: Log): Promise<{ pid: number; adopted: boolean }> {
  for (const deadline = Date.now() + LOCK_TIMEOUT_MS; ; await delay(100)) {
    const found = findRunningServer(cluster);
    // A server that survived an upgrade of its binary is restarted, not adopted.
    if (found && isOwner && !found.isCurrent) await shutDownServer(cluster, found.pid);
    else if (found && (await waitUntilReady(cluster, () => runsIn(cluster.data, found.pid), log)))
      return { pid: found.pid, adopted: true };
    if (found) continue;

    const late = Date.now() > deadline;
    // Backends outlive a killed postmaster for a moment, and a second server beside them would corrupt the data.
    const left = isOwner ? processesIn(cluster.data) : [readOwner(cluster.ownerFile)];
    if (left.length > 0 && late) throw startError('start', `process ${left[0]} holds ${cluster.root}`);
    if (left.length > 0) continue;

    // No process uses the directory, so the lock file is stale: its process id belongs to another program now.
    rmSync(cluster.lockFile, { force: true });
    const started = launch(cluster);
    if (await waitUntilReady(cluster, started.lives, log)) return { pid: started.pid, adopted: false };
    const reason = started.reason();
    if (late || !/lock file|shared memory block/.test(reason)) throw startError('start', reason);
  }
}

/** True once the server accepts connections, false when it has died. Has no timeout, as crash recovery may take long. */
async function waitUntilReady(cluster: Cluster, lives: () => boolean, log: Log) {
  for (let nextWord = Date.now() + 10_000; ; await delay(25)) {
    try {
      await query(cluster, 'select 1');
      return true;
    } catch (error) {
      if (!lives()) return false;
      if (Date.now() < nextWord) continue;
      log.warn(`PostgreSQL is not ready yet: ${(error as Error).message}`);
      nextWord += 10_000;
    }
  }
}

/** Checks once a second and restarts a dead server. `release` ends the supervision and returns the last process id. */
function supervise(cluster: Cluster, firstPid: number, log: Log) {
  let pid = firstPid;
  let revival: Promise<void> | undefined;
  const restart = async () => {
    log.warn('PostgreSQL is gone; starting it again');
    try {
      pid = (await startOrAdopt(cluster, true, log)).pid;
    } catch (error) {
      log.warn((error as Error).message);
    }
    revival = undefined;
  };
  const watch = setInterval(() => {
    if (!revival && !runsIn(cluster.data, pid)) revival = restart();
  }, 1_000).unref();
  const release = async () => {
    clearInterval(watch);
    await revival;
    return pid;
  };
  return { release };
}

async function shutDownServer(cluster: Cluster, pid: number) {
  const steps = [
    { signal: 'SIGINT', patience: 30_000 },
    { signal: 'SIGQUIT', patience: 10_000 },
  ] as const;
  for (const { signal, patience } of steps) {
    if (runsIn(cluster.data, pid)) process.kill(pid, signal);
    for (const deadline = Date.now() + patience; Date.now() < deadline; await delay(25))
      if (!runsIn(cluster.data, pid)) return;
  }
  throw new Error(`PostgreSQL (process ${pid}) does not end`);
}

async function ensureDatabase(cluster: Cluster) {
  const { rowCount } = await query(cluster, `select from pg_database where datname = '${SUPERUSER}'`);
  if (rowCount === 0) await query(cluster, `create database ${SUPERUSER}`);
}

async function query(cluster: Cluster, sql: string) {
  const client = new pg.Client({ connectionString: urlOf(cluster, 'postgres'), connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

const urlOf = ({ socketDir }: Cluster, database: string) =>
  `postgres://${SUPERUSER}@localhost/${database}?host=${encodeURIComponent(socketDir)}`;
