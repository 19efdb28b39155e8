import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { LIVE_WORKERS } from '../reconcile/workerRegistry.ts';
import { backoffMs } from './timing.ts';

/** The exclusive right to work on one instance until it expires. Its token fences every write. */
export interface Lease {
  id: number;
  token: string;
}

const fromNow = (ms: number) => sql<Date>`clock_timestamp() + ${`${ms} milliseconds`}::interval`;

/**
 * Claims up to `limit` due instances of one cloud (`others`: of clouds not named): those whose `next_at` has come and
 * those with an expired lease. A notification during the lease is not lost, as it sets `next_at` again.
 */
export async function claimLeases(
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
      lock_expires_at = ${fromNow(leaseMs)}, next_at = null
    from due where i.id = due.id returning i.id, i.lock_token as token`.execute(db);
  return rows;
}

/** Milliseconds until the next instance is due. */
export async function msUntilNextDue(db: Db): Promise<number> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from min(next_at) - clock_timestamp()) * 1000)::float8 as ms
    from instance where next_at is not null and lock_expires_at is null`.execute(db);
  return Math.max(0, rows[0]?.ms ?? Number.POSITIVE_INFINITY);
}

/**
 * Skips rows locked by others, to avoid a deadlock with a transaction that locks all servers of a workspace
 * (`lockServers`); a skipped lease is renewed the next time.
 */
export async function renewLeases(db: Db, leases: readonly Lease[], leaseMs: number): Promise<void> {
  if (leases.length === 0) return;
  const tokens = leases.map(({ token }) => token);
  await sql`
    with kept as (select id from instance where lock_token = any(${tokens}::uuid[]) for no key update skip locked)
    update instance i set lock_expires_at = ${fromNow(leaseMs)} from kept where i.id = kept.id`.execute(db);
}

/** Expires the leases of dead processes at once. */
export async function expireLeasesOfDeadWorkers(db: Db): Promise<number> {
  const { numAffectedRows } = await sql`
    with abandoned as (
      select id from instance
      where lock_expires_at > clock_timestamp() and lock_owner is not null and lock_owner not in ${LIVE_WORKERS}
      order by id for no key update)
    update instance i set lock_expires_at = clock_timestamp() from abandoned where i.id = abandoned.id`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Columns that release the lease: due in `requeueAfterMs`, or sooner if a notification came meanwhile. */
export function releasedLease(requeueAfterMs: number | null) {
  return {
    lock_token: null,
    lock_owner: null,
    lock_expires_at: null,
    next_at:
      requeueAfterMs === null ? sql<Date | null>`next_at` : sql<Date>`least(next_at, ${fromNow(requeueAfterMs)})`,
  };
}

/** Releases a lease without storing a result. */
export async function releaseLease(db: Db, lease: Lease, requeueAfterMs: number | null): Promise<void> {
  await db
    .updateTable('instance')
    .set(releasedLease(requeueAfterMs))
    .where('id', '=', lease.id)
    .where('lock_token', '=', lease.token)
    .execute();
}

/** A step failed: retries it with backoff. `message` is shown to people once several attempts have failed. */
export async function retryLater(db: Db, lease: Lease, message: string, opId: string | null = null): Promise<void> {
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
      .set({ ...releasedLease(backoffMs(row.attempts)), attempts: row.attempts + 1, last_error: message })
      .where('id', '=', lease.id)
      .execute();
  });
}
