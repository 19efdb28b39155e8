import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { backOffMs } from './pace.ts';

/** The right to work on one instance until it expires; whoever writes shows its token. */
export interface Lease {
  id: number;
  token: string;
}

const span = (ms: number) => sql<Date>`clock_timestamp() + ${`${ms} milliseconds`}::interval`;

/**
 * Takes up to `limit` due instances of one cloud (`others`: of clouds not named). Due is what its time says, and
 * whatever somebody held and let expire. A hint that comes while one is held survives: `next_at` is set again.
 */
export async function claim(
  db: Db,
  cloud: string | { others: string[] },
  { limit, leaseMs, owner }: { limit: number; leaseMs: number; owner: number | null },
): Promise<Lease[]> {
  const ofCloud = typeof cloud === 'string' ? sql`provider = ${cloud}` : sql`provider <> all(${cloud.others}::text[])`;
  const { rows } = await sql<Lease>`
    with due as (
      select id from instance
      where kind = 'rented' and ${ofCloud}
        and (lock_expires_at <= now() or (lock_expires_at is null and next_at <= now()))
      order by next_at nulls first limit ${limit} for no key update skip locked
    )
    update instance i set lock_token = gen_random_uuid(), lock_owner = ${owner}::int,
      lock_expires_at = ${span(leaseMs)}, next_at = null
    from due where i.id = due.id returning i.id, i.lock_token as token`.execute(db);
  return rows;
}

/** How long nothing will be due, as far as is known now. */
export async function nextDueMs(db: Db): Promise<number> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from min(next_at) - clock_timestamp()) * 1000)::float8 as ms
    from instance where next_at is not null and lock_expires_at is null`.execute(db);
  return Math.max(0, rows[0]?.ms ?? Number.POSITIVE_INFINITY);
}

/**
 * Waits for nobody, with locks of other servers in hand, who holds all servers of a workspace: one that is held at this
 * moment is kept by the next beat.
 */
export async function keepAlive(db: Db, leases: readonly Lease[], leaseMs: number): Promise<void> {
  if (leases.length === 0) return;
  const tokens = leases.map(({ token }) => token);
  await sql`
    with kept as (select id from instance where lock_token = any(${tokens}::uuid[]) for no key update skip locked)
    update instance i set lock_expires_at = ${span(leaseMs)} from kept where i.id = kept.id`.execute(db);
}

/** What every write of a finished step holds: free again, due in `againMs` or sooner if somebody asked for it. */
export function freed(againMs: number | null) {
  return {
    lock_token: null,
    lock_owner: null,
    lock_expires_at: null,
    next_at: againMs === null ? sql<Date | null>`next_at` : sql<Date>`least(next_at, ${span(againMs)})`,
  };
}

/** Gives back what turned out to have moved on; it is looked at anew. */
export async function letGo(db: Db, lease: Lease, againMs: number | null): Promise<void> {
  await db
    .updateTable('instance')
    .set(freed(againMs))
    .where('id', '=', lease.id)
    .where('lock_token', '=', lease.token)
    .execute();
}

/** A step failed: later again, later each time. `message` is for people once it keeps failing. */
export async function backOff(db: Db, lease: Lease, message: string, opId: string | null = null): Promise<void> {
  await inTransaction(db, async (trx) => {
    const row = await trx
      .selectFrom('instance')
      .select('attempts')
      .where('id', '=', lease.id)
      .where('lock_token', '=', lease.token)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (opId) await trx.updateTable('provider_op').set({ error: message }).where('id', '=', opId).execute();
    if (!row) return;
    await trx
      .updateTable('instance')
      .set({ ...freed(backOffMs(row.attempts)), attempts: row.attempts + 1, last_error: message })
      .where('id', '=', lease.id)
      .execute();
  });
}
