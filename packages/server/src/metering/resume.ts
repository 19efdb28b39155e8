import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { requireOneHour } from '../billing/rentGate.ts';
import { syncSegments } from '../billing/segments.ts';
import { endZeroBalance } from '../billing/zero.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import { notFound, refused } from '../http/errors.ts';
import { setDesired } from '../instances/actions.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } };

/** Starts the chosen servers among those that a zero balance stopped; the others stay stopped. */
export async function resumeServers(ctx: Caller, instanceIds: readonly number[]): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const chosen = await lockServersByIds(trx, ctx.workspace.id, instanceIds);
    if (chosen.some(({ zero_stopped_at }) => zero_stopped_at === null))
      throw refused(text('One of these servers was not stopped by a zero balance'));
    if (chosen.some(({ status }) => status === 'powering off'))
      throw refused(text('One of these servers is still being stopped. Try again in a moment.'));
    const balance = await requireOneHour(
      trx,
      ctx.workspace.id,
      ...chosen.map((row) => ({
        pricePerHour:
          (row.price_per_hour ?? 0n) - (NOT_CREATED_YET.includes(row.status) ? 0n : (row.stopped_price_per_hour ?? 0n)),
        canStop: row.offer?.canStop ?? false,
      })),
    );
    if (balance === 0n) throw refused(text('The balance is still zero'));
    await endZeroBalance(trx, ctx.workspace.id, { resumesAll: false });
    for (const row of chosen) {
      if (row.status === 'stopped') await setDesired(ctx, trx, 'start', row, { actorId: ctx.user.id });
      else await clearZeroStop(trx, row.id);
    }
  });
}

/** These do not pay for a disk yet. */
const NOT_CREATED_YET: readonly string[] = ['in queue', 'creating'];

/** For a server that was not stopped yet: it is charged its full price again. */
async function clearZeroStop(trx: Db, id: number): Promise<void> {
  await trx.updateTable('instance').set({ zero_stopped_at: null }).where('id', '=', id).execute();
  await syncSegments(trx, id);
}

/** Locks in the order of ids, before the accounts, to avoid a deadlock. */
async function lockServersByIds(trx: Db, workspaceId: number, ids: readonly number[]): Promise<InstanceRow[]> {
  const wanted = [...new Set(ids)];
  const { rows } = await sql<InstanceRow>`select * from instance
    where workspace_id = ${workspaceId} and kind = 'rented' and closed_at is null
      and id = any(${wanted}::bigint[]) order by id for no key update`.execute(trx);
  if (rows.length < wanted.length) throw notFound();
  return rows;
}
