import { sql } from 'kysely';
import { balanceOf } from '../billing/burnRate.ts';
import { KEPT_DAYS, STORAGE_KEPT, ZERO_BALANCE } from '../billing/zero.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { transitionStorage } from '../storages/status.ts';

/**
 * SQL: whether the workspace `w` with the meter `m` was without a balance for as long as things are kept. A credit since
 * then keeps them, even one too small to start any; the rest of a reserve (`left_at_zero`) does not.
 */
export const RETENTION_IS_OVER = sql`w.exhausted_at < metering_clock() - make_interval(days => ${KEPT_DAYS})
  and ${sql.raw(balanceOf('w.id'))} <= coalesce(m.left_at_zero, 0)`;

const UNPAID = sql`${sql.raw(STORAGE_KEPT)} and ${RETENTION_IS_OVER}`;

/** Deletes the storages of workspaces that were without a balance for 14 days. Returns their number. */
export async function deleteUnpaidStorages(ctx: Pick<Context, 'db' | 'log'>): Promise<number> {
  const { rows } = await sql<{ id: number }>`select d.id from storage d join workspace w on w.id = d.workspace_id
    left join workspace_meter m on m.client_id = w.id where ${UNPAID} order by d.id`.execute(ctx.db);
  let deleted = 0;
  for (const { id } of rows) {
    try {
      if (await inTransaction(ctx.db, (trx) => deleteIfUnpaid(ctx, trx, id))) deleted += 1;
    } catch (error) {
      ctx.log.error(
        { err: error, storageId: id },
        'a storage without a balance could not be deleted; it is tried again',
      );
    }
  }
  return deleted;
}

/** Locks the row, then checks the condition in a second statement, which sees what was committed meanwhile. */
async function deleteIfUnpaid(ctx: Pick<Context, 'log'>, trx: Db, id: number): Promise<boolean> {
  await sql`select 1 from storage where id = ${id} for no key update`.execute(trx);
  const { rows } = await sql`select 1 from storage d join workspace w on w.id = d.workspace_id
    left join workspace_meter m on m.client_id = w.id where d.id = ${id} and ${UNPAID}`.execute(trx);
  return rows.length > 0 && transitionStorage(ctx, trx, id, 'terminating', { reason: ZERO_BALANCE });
}
