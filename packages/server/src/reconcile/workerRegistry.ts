import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';

/** First half of the advisory lock's key; the second half is the worker id. */
export const WORKER_LOCK_SPACE = 7_239_002;
const RETRY_MS = 1_000;

/** Liveness of this process: a connection holds an advisory lock, which ends with the process however it ends. */
export interface WorkerRegistration {
  /** Stored in leases; `null` while not registered: such leases last until they expire. */
  workerId(): number | null;
  /** Settles when the first attempt to register has succeeded or failed. */
  firstAttempt: Promise<void>;
  close(): Promise<void>;
}

export function registerWorker(ctx: { pg: pg.Pool; log: Logger }): WorkerRegistration {
  const workerId = randomInt(1, 2 ** 31 - 1);
  let client: pg.Client | null = null;
  let isRegistered = false;
  let closed = false;
  let timer: NodeJS.Timeout | null = null;
  let connecting: Promise<void> = Promise.resolve();

  const connect = async (): Promise<void> => {
    const next = new pg.Client({
      connectionString: ctx.pg.options.connectionString,
      application_name: 'stagi-presence',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    next.on('error', (error) => ctx.log.warn({ err: error }, 'presence connection lost'));
    next.on('end', () => {
      isRegistered = false;
      retry();
    });
    client = next;
    await next.connect();
    await next.query('select pg_advisory_lock($1, $2)', [WORKER_LOCK_SPACE, workerId]);
    isRegistered = true;
  };
  const retry = (): void => {
    if (closed || timer) return;
    timer = setTimeout(() => {
      timer = null;
      tryConnect();
    }, RETRY_MS);
  };
  const tryConnect = (): void => {
    connecting = connect().catch((error: unknown) => {
      ctx.log.warn({ err: error }, 'cannot show the presence of this process yet');
      retry();
    });
  };
  tryConnect();

  return {
    firstAttempt: connecting,
    workerId: () => (isRegistered ? workerId : null),
    async close() {
      closed = true;
      if (timer) clearTimeout(timer);
      await connecting;
      await client?.end();
    },
  };
}

/** SQL: the numbers of the registered processes of this database. A process that is only slow still holds its lock. */
export const LIVE_WORKERS = sql`(select objid::bigint from pg_locks
  where locktype = 'advisory' and granted and classid = ${WORKER_LOCK_SPACE}::oid
    and database = (select oid from pg_database where datname = current_database()))`;
