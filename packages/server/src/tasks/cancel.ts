import type { Ref } from '@stagi/contract/page.ts';
import { TASK_ENDED, taskCan } from '@stagi/contract/taskRules.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { lockTask } from './find.ts';
import { transitionTask } from './status.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } };

/** Cancels a task: at once while it has no place, else by its worker, which saves what it has put out. Returns its id. */
export function cancelTask(ctx: Caller, ref: Ref): Promise<number> {
  return inTransaction(ctx.db, async (trx) => {
    const task = await lockTask({ db: trx, workspace: ctx.workspace }, ref);
    const verdict = taskCan.cancel(task);
    if (!verdict.allowed) throw refused(verdict.reason);
    await askToCancel(ctx, trx, task.id, { reason: null, actorId: ctx.user.id });
    return task.id;
  });
}

/** The same for the platform, which says why. A task that has ended, or is being canceled, is left alone. */
export async function askToCancel(
  ctx: Pick<Context, 'log'>,
  trx: Db,
  taskId: number,
  { reason, actorId = null }: { reason: string | null; actorId?: number | null },
): Promise<void> {
  const task = await trx
    .selectFrom('task')
    .select(['status', 'instance_id', 'placed', 'run_number'])
    .where('id', '=', taskId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!task || TASK_ENDED.includes(task.status) || task.status === 'canceling') return;
  const now = sql<Date>`clock_timestamp()`;
  await trx.updateTable('task').set({ cancel_asked_at: now, cancel_reason: reason }).where('id', '=', taskId).execute();
  if (task.placed) {
    await transitionTask(ctx, trx, taskId, 'canceling', { reason, actorId });
    await announce(trx, 'task', { instanceId: task.instance_id });
    return;
  }
  await trx
    .updateTable('task_run')
    .set({ ended_at: now, finished_at: now, reason })
    .where('task_id', '=', taskId)
    .where('number', '=', task.run_number)
    .execute();
  await trx.updateTable('task').set({ finished_at: now }).where('id', '=', taskId).execute();
  await transitionTask(ctx, trx, taskId, 'canceled', { reason, actorId });
}
