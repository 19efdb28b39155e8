import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';

/** First half of the keys of our advisory locks; the second is the process's number. */
export const PRESENCE_SPACE = 7_239_002;
const RETRY_MS = 1_000;

/** Shows the other processes that this one lives: its connection holds a lock that ends with it, however it ends. */
export interface Presence {
  /** What leases bear; `null` while the database does not know of us, then they last until they expire. */
  number(): number | null;
  /** Settles when the first try is over, whether it worked or not. */
  tried: Promise<void>;
  close(): Promise<void>;
}

export function showPresence(ctx: Pick<Context, 'pg' | 'log'>): Presence {
  const mine = randomInt(1, 2 ** 31 - 1);
  let client: pg.Client | null = null;
  let isShown = false;
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
      isShown = false;
      again();
    });
    client = next;
    await next.connect();
    await next.query('select pg_advisory_lock($1, $2)', [PRESENCE_SPACE, mine]);
    isShown = true;
  };
  const again = (): void => {
    if (closed || timer) return;
    timer = setTimeout(() => {
      timer = null;
      begin();
    }, RETRY_MS);
  };
  const begin = (): void => {
    connecting = connect().catch((error: unknown) => {
      ctx.log.warn({ err: error }, 'cannot show the presence of this process yet');
      again();
    });
  };
  begin();

  return {
    tried: connecting,
    number: () => (isShown ? mine : null),
    async close() {
      closed = true;
      if (timer) clearTimeout(timer);
      await connecting;
      await client?.end();
    },
  };
}

/** Frees what dead processes held: nobody need wait for their leases. Who is only slow still holds its lock. */
export async function freeAbandoned(db: Db): Promise<number> {
  const { numAffectedRows } = await sql`
    with abandoned as (
      select id from instance
      where lock_expires_at > clock_timestamp() and lock_owner is not null and lock_owner not in (
        select objid::bigint from pg_locks
        where locktype = 'advisory' and granted and classid = ${PRESENCE_SPACE}::oid
          and database = (select oid from pg_database where datname = current_database()))
      order by id for no key update)
    update instance i set lock_expires_at = clock_timestamp() from abandoned where i.id = abandoned.id`.execute(db);
  return Number(numAffectedRows ?? 0);
}
