import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';

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

export function registerWorker(ctx: Pick<Context, 'pg' | 'log'>): WorkerRegistration {
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

/** Expires the leases of dead processes at once. A process that is only slow still holds its advisory lock. */
export async function expireLeasesOfDeadWorkers(db: Db): Promise<number> {
  const { numAffectedRows } = await sql`
    with abandoned as (
      select id from instance
      where lock_expires_at > clock_timestamp() and lock_owner is not null and lock_owner not in (
        select objid::bigint from pg_locks
        where locktype = 'advisory' and granted and classid = ${WORKER_LOCK_SPACE}::oid
          and database = (select oid from pg_database where datname = current_database()))
      order by id for no key update)
    update instance i set lock_expires_at = clock_timestamp() from abandoned where i.id = abandoned.id`.execute(db);
  return Number(numAffectedRows ?? 0);
}
