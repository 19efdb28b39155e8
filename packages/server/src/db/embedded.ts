import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Cluster, cannot, giveTo, initialise, launch, openCluster, SUPERUSER } from './embeddedCluster.ts';
import { inhabitants, livesIn, processKey, readOwner, runningPostmaster } from './embeddedProcess.ts';

export type EmbeddedPostgres = {
  /** Connection string of the database `stagi`. It names a Unix socket, so it works on this machine only. */
  url: string;
  /** The server was already running when this process came. */
  adopted: boolean;
  /** Ends the server, unless another live process started it. Repeatable. */
  stop(): Promise<void>;
};

type Log = { info(line: string): void; warn(line: string): void };

type Options = {
  /** Created when missing; everything lies below it. */
  dataDir: string;
  log: Log;
  /** Server settings over the defaults, such as `fsync: 'off'` where losing everything is fine. */
  settings?: Record<string, string>;
};

const LOCK_PATIENCE_MS = 30_000;

/**
 * Starts PostgreSQL over `dataDir`, or takes over the one that still runs there because whoever started it was killed.
 * Until `stop` it is started again whenever it dies. Fails with one line that says what is in the way.
 *
 * It listens on a Unix socket in a directory of mode 0700 and nowhere else: no port to find taken, no password to keep,
 * and nobody but this user (a rented machine least of all) can so much as connect.
 */
export async function startEmbeddedPostgres({ dataDir, log, settings = {} }: Options): Promise<EmbeddedPostgres> {
  const cluster = openCluster(dataDir, settings);
  const isOwner = claim(cluster);
  if (isOwner && !existsSync(cluster.data)) {
    log.info(`creating the database in ${cluster.root}`);
    initialise(cluster);
  }
  const first = await bringUp(cluster, isOwner, log);
  await ensureDatabase(cluster);

  const keeper = isOwner ? keepUp(cluster, first.pid, log) : undefined;
  const shutDown = async () => {
    if (!keeper) return;
    await end(cluster, await keeper.release());
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

/** One live process owns the directory and may stop its server; a second one (a tool, a script) only shares it. */
function claim({ ownerFile, uid }: Cluster) {
  const me = processKey(process.pid);
  const owner = readOwner(ownerFile);
  if (owner && owner !== me && owner === processKey(Number.parseInt(owner, 10))) return false;
  try {
    writeFileSync(ownerFile, `${me}\n`);
    giveTo(uid, ownerFile);
  } catch (error) {
    throw cannot(`write ${ownerFile}`, error);
  }
  return true;
}

async function bringUp(cluster: Cluster, isOwner: boolean, log: Log): Promise<{ pid: number; adopted: boolean }> {
  for (const deadline = Date.now() + LOCK_PATIENCE_MS; ; await delay(100)) {
    const found = runningPostmaster(cluster);
    // A new release has replaced the binary below a surviving server: such a one is restarted, not adopted.
    if (found && isOwner && !found.isCurrent) await end(cluster, found.pid);
    else if (found && (await becomesReady(cluster, () => livesIn(cluster.data, found.pid), log)))
      return { pid: found.pid, adopted: true };
    if (found) continue;

    const late = Date.now() > deadline;
    // Backends outlive a killed postmaster by a moment, and a second server beside them would destroy the data.
    const left = isOwner ? inhabitants(cluster.data) : [readOwner(cluster.ownerFile)];
    if (left.length > 0 && late) throw cannot('start', `process ${left[0]} holds ${cluster.root}`);
    if (left.length > 0) continue;

    // Nobody lives in the directory, so a lock left here names a stranger that was given the dead server's process id.
    rmSync(cluster.lockFile, { force: true });
    const started = launch(cluster);
    if (await becomesReady(cluster, started.lives, log)) return { pid: started.pid, adopted: false };
    const reason = started.reason();
    if (late || !/lock file|shared memory block/.test(reason)) throw cannot('start', reason);
  }
}

/** True once it takes connections, false when it is gone. Waits as long as it lives: recovery takes what it takes. */
async function becomesReady(cluster: Cluster, lives: () => boolean, log: Log) {
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

/** Looks once a second and starts the server again when it is gone. `release` ends that and answers the last process id. */
function keepUp(cluster: Cluster, firstPid: number, log: Log) {
  let pid = firstPid;
  let revival: Promise<void> | undefined;
  const revive = async () => {
    log.warn('PostgreSQL is gone; starting it again');
    try {
      pid = (await bringUp(cluster, true, log)).pid;
    } catch (error) {
      log.warn((error as Error).message);
    }
    revival = undefined;
  };
  const watch = setInterval(() => {
    if (!revival && !livesIn(cluster.data, pid)) revival = revive();
  }, 1_000).unref();
  const release = async () => {
    clearInterval(watch);
    await revival;
    return pid;
  };
  return { release };
}

async function end(cluster: Cluster, pid: number) {
  const steps = [
    { signal: 'SIGINT', patience: 30_000 },
    { signal: 'SIGQUIT', patience: 10_000 },
  ] as const;
  for (const { signal, patience } of steps) {
    if (livesIn(cluster.data, pid)) process.kill(pid, signal);
    for (const deadline = Date.now() + patience; Date.now() < deadline; await delay(25))
      if (!livesIn(cluster.data, pid)) return;
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
