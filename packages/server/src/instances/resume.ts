import { sql } from 'kysely';
import { requireOneHour } from '../billing/rentGate.ts';
import { followSegments } from '../billing/segments.ts';
import { leaveZero } from '../billing/zero.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import { notFound, refused } from '../http/errors.ts';
import { want } from './actions.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } };

/** Starts those of the servers that a balance of zero stopped which somebody has chosen; the others stay stopped. */
export async function resumeChosen(ctx: Caller, instanceIds: readonly number[]): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const chosen = await heldServers(trx, ctx.workspace.id, instanceIds);
    if (chosen.some(({ zero_stopped_at }) => zero_stopped_at === null))
      throw refused('One of these servers was not stopped by a zero balance');
    if (chosen.some(({ status }) => status === 'powering off'))
      throw refused('One of these servers is still being stopped. Try again in a moment.');
    const balance = await requireOneHour(
      trx,
      ctx.workspace.id,
      ...chosen.map((row) => ({
        pricePerHour:
          (row.price_per_hour ?? 0n) - (NOT_MADE_YET.includes(row.status) ? 0n : (row.stopped_price_per_hour ?? 0n)),
        canStop: row.offer?.canStop ?? false,
      })),
    );
    if (balance === 0n) throw refused('The balance is still zero');
    await leaveZero(trx, ctx.workspace.id, { resumesAll: false });
    for (const row of chosen) {
      if (row.status === 'stopped') await want(ctx, trx, 'start', row, { actorId: ctx.user.id });
      else await goOn(trx, row.id);
    }
  });
}

/** Of these a balance of zero does not even pay the disk. */
const NOT_MADE_YET: readonly string[] = ['in queue', 'creating'];

/** One that was not stopped yet costs its price again. */
async function goOn(trx: Db, id: number): Promise<void> {
  await trx.updateTable('instance').set({ zero_stopped_at: null }).where('id', '=', id).execute();
  await followSegments(trx, id);
}

/** Locked in the order of their numbers, before the accounts. */
async function heldServers(trx: Db, workspaceId: number, ids: readonly number[]): Promise<InstanceRow[]> {
  const wanted = [...new Set(ids)];
  const { rows } = await sql<InstanceRow>`select * from instance
    where workspace_id = ${workspaceId} and kind = 'rented' and closed_at is null
      and id = any(${wanted}::bigint[]) order by id for no key update`.execute(trx);
  if (rows.length < wanted.length) throw notFound();
  return rows;
}
