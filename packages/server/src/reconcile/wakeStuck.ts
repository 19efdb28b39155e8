import { type RawBuilder, sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import type { ReconciledTable } from './lease.ts';

/** SQL: which rows are in the middle of something although no worker would look at them again. */
export type Stuck = RawBuilder<unknown>;

/** More than this at once points to a bug: the rest waits for the next pass, and the log shows it. */
const MAX_PER_PASS = 10;
/** No backoff and no poll interval is longer than this. */
const LONGEST_RETRY_PAUSE = sql`interval '10 minutes'`;

/**
 * The reaper, a safety net: wakes rows that no worker would look at again. This should never happen and is logged as an
 * error. Returns the ids of the woken rows.
 */
export async function wakeStuck(
  ctx: Pick<Context, 'db' | 'log'>,
  table: ReconciledTable,
  stuck: Stuck,
): Promise<number[]> {
  const condition = sql`lock_expires_at is null and (next_at is null or next_at > now() + ${LONGEST_RETRY_PAUSE}) and (${stuck})`;
  const woken: number[] = [];
  const { rows } = await sql<{ id: number }>`
    select id from ${sql.table(table)} where ${condition} order by status_since limit ${MAX_PER_PASS}`.execute(ctx.db);
  for (const { id } of rows) {
    const row = await inTransaction(ctx.db, (trx) => wakeIfStuck(trx, table, id, condition));
    if (!row) continue;
    ctx.log.error({ table, id, ...row }, 'a row was forgotten: it is looked at again');
    woken.push(id);
  }
  return woken;
}

/** Repeats the condition under the row's lock: a worker may have taken it meanwhile. */
async function wakeIfStuck(
  trx: Db,
  table: ReconciledTable,
  id: number,
  condition: RawBuilder<unknown>,
): Promise<{ status: string; since: Date } | null> {
  const { rows } = await sql<{ status: string; since: Date }>`
    update ${sql.table(table)} set next_at = now()
    where id = (select id from ${sql.table(table)} where id = ${id} and ${condition} for no key update)
    returning status, status_since as since`.execute(trx);
  if (rows[0]) await announce(trx, 'due', { kind: table });
  return rows[0] ?? null;
}
