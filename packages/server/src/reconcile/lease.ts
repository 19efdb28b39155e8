import { type RawBuilder, sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { backoffMs } from './backoff.ts';
import { LIVE_WORKERS } from './workerRegistry.ts';

/**
 * Tables whose rows are reconciled. Each has the columns of a lease: `lock_token`, `lock_owner`, `lock_expires_at`,
 * `next_at`, `attempts`, `last_error`.
 */
export type ReconciledTable = 'instance' | 'storage' | 'project' | 'project_import';

/** The exclusive right to work on one row until it expires. Its token fences every write. */
export interface Lease {
  id: number;
  token: string;
}

const fromNow = (ms: number) => sql<Date>`clock_timestamp() + ${`${ms} milliseconds`}::interval`;

/**
 * Claims up to `limit` due rows that meet a condition: those whose `next_at` has come and those with an expired lease. A
 * notification during the lease is not lost, as it sets `next_at` again.
 */
export async function claimLeases(
  db: Db,
  table: ReconciledTable,
  condition: RawBuilder<unknown>,
  { limit, leaseMs, owner }: { limit: number; leaseMs: number; owner: number | null },
): Promise<Lease[]> {
  const { rows } = await sql<Lease>`
    with due as (
      select id from ${sql.table(table)}
      where (${condition}) and (lock_expires_at <= now() or (lock_expires_at is null and next_at <= now()))
      order by next_at nulls first limit ${limit} for no key update skip locked
    )
    update ${sql.table(table)} t set lock_token = gen_random_uuid(), lock_owner = ${owner}::int,
      lock_expires_at = ${fromNow(leaseMs)}, next_at = null
    from due where t.id = due.id returning t.id, t.lock_token as token`.execute(db);
  return rows;
}

/** Milliseconds until the next row is due. */
export async function msUntilNextDue(db: Db, table: ReconciledTable): Promise<number> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from min(next_at) - clock_timestamp()) * 1000)::float8 as ms
    from ${sql.table(table)} where next_at is not null and lock_expires_at is null`.execute(db);
  return Math.max(0, rows[0]?.ms ?? Number.POSITIVE_INFINITY);
}

/**
 * Skips rows locked by others, to avoid a deadlock with a transaction that locks many rows in the order of their ids
 * (`lockServers`); a skipped lease is renewed the next time.
 */
export async function renewLeases(
  db: Db,
  table: ReconciledTable,
  leases: readonly Lease[],
  leaseMs: number,
): Promise<void> {
  if (leases.length === 0) return;
  const tokens = leases.map(({ token }) => token);
  await sql`
    with kept as (select id from ${sql.table(table)} where lock_token = any(${tokens}::uuid[]) for no key update skip locked)
    update ${sql.table(table)} t set lock_expires_at = ${fromNow(leaseMs)} from kept where t.id = kept.id`.execute(db);
}

/** Expires the leases of dead processes at once. */
export async function expireLeasesOfDeadWorkers(db: Db, table: ReconciledTable): Promise<number> {
  const { numAffectedRows } = await sql`
    with abandoned as (
      select id from ${sql.table(table)}
      where lock_expires_at > clock_timestamp() and lock_owner is not null and lock_owner not in ${LIVE_WORKERS}
      order by id for no key update)
    update ${sql.table(table)} t set lock_expires_at = clock_timestamp() from abandoned where t.id = abandoned.id`.execute(
    db,
  );
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
export async function releaseLease(
  db: Db,
  table: ReconciledTable,
  lease: Lease,
  requeueAfterMs: number | null,
): Promise<void> {
  await db
    .updateTable(table)
    .set(releasedLease(requeueAfterMs))
    .where('id', '=', lease.id)
    .where('lock_token', '=', lease.token)
    .execute();
}

/**
 * A step failed: retries it with backoff. `message` is shown to people once several attempts have failed. `alongside`
 * stores what else is known of the failure, in the same transaction, whether or not the lease still holds.
 */
export async function retryLater(
  db: Db,
  table: ReconciledTable,
  lease: Lease,
  message: string,
  alongside?: (trx: Db) => Promise<unknown>,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const row = await trx
      .selectFrom(table)
      .select('attempts')
      .where('id', '=', lease.id)
      .where('lock_token', '=', lease.token)
      .forNoKeyUpdate()
      .executeTakeFirst();
    await alongside?.(trx);
    if (!row) return;
    await trx
      .updateTable(table)
      .set({ ...releasedLease(backoffMs(row.attempts)), attempts: row.attempts + 1, last_error: message })
      .where('id', '=', lease.id)
      .execute();
  });
}
