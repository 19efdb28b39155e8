import { text } from '@stagi/contract/text.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { askToCancel } from './cancel.ts';
import { WAITS, type WaitingGroup } from './facts.ts';
import { transitionTask } from './status.ts';

type Ctx = Pick<Context, 'db' | 'log'>;

const NO_ROOM_YET = text('Waiting for room on its server');
/** The rest of a long queue follows in the next passes. */
export const MAX_AT_ONCE = 200;

const among = ({ instanceId, projectId, storageId }: WaitingGroup): RawBuilder<boolean> =>
  sql`(t.instance_id = ${instanceId} and t.project_id = ${projectId} and t.storage_id = ${storageId})`;

/** Cancels waiting tasks of a group, in the order of the queue. Returns how many. */
export const cancelWaiting = (ctx: Ctx, group: WaitingGroup, reason: string): Promise<number> =>
  forEachWaiting(ctx, among(group), (trx, id) => askToCancel(ctx, trx, id, { reason }));

/** Says why waiting tasks of a group may not start. */
export const holdWaiting = (ctx: Ctx, group: WaitingGroup, reason: string): Promise<number> =>
  forEachWaiting(
    ctx,
    sql`${among(group)} and t.not_before <= now() and (t.status <> 'scheduled' or t.status_reason is distinct from ${reason})`,
    (trx, id) => transitionTask(ctx, trx, id, 'scheduled', { reason, deadline: null }),
  );

/** Shows that tasks which have been passed over wait for room. */
export const queueWaiting = (ctx: Ctx, group: WaitingGroup): Promise<number> =>
  forEachWaiting(ctx, sql`${among(group)} and t.not_before <= now() and t.status <> 'in queue'`, (trx, id) =>
    transitionTask(ctx, trx, id, 'in queue', { reason: NO_ROOM_YET }),
  );

/** A task that never had a place fails. */
export async function failWaiting(ctx: Pick<Context, 'log'>, trx: Db, taskId: number, reason: string): Promise<void> {
  const now = sql<Date>`clock_timestamp()`;
  await sql`update task_run r set ended_at = ${now}, finished_at = ${now}, reason = ${reason}
    from task t where t.id = ${taskId} and r.task_id = t.id and r.number = t.run_number`.execute(trx);
  await trx.updateTable('task').set({ finished_at: now }).where('id', '=', taskId).execute();
  await transitionTask(ctx, trx, taskId, 'failed', { reason });
}

function forEachWaiting(
  ctx: Ctx,
  which: RawBuilder<unknown>,
  change: (trx: Db, id: number) => Promise<unknown>,
): Promise<number> {
  return inTransaction(ctx.db, async (trx) => {
    const { rows } = await sql<{ id: number }>`select t.id from task t where ${WAITS} and ${which}
      order by t.priority desc, t.id limit ${MAX_AT_ONCE} for no key update skip locked`.execute(trx);
    for (const { id } of rows) await change(trx, id);
    return rows.length;
  });
}
