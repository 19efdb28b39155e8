import { TASK_ENDED, TASK_MOVES, type TaskStatus } from '@stagi/contract/taskRules.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db, TaskRow } from '../db/schema.ts';

export interface TaskEvidence {
  /** Shown to people. `undefined` keeps the old reason; a change of status clears it unless a new one is given. */
  reason?: string | null;
  /** When it is given up, or tried again. A change of status clears it unless a new one is given. */
  deadline?: Date | null;
  /** Who did it; the platform when left out. */
  actorId?: number | null;
  /** Further columns from the same observation. */
  columns?: Partial<
    Pick<TaskRow, 'started_at' | 'finished_at' | 'exit_code' | 'cost_micro' | 'run_number' | 'not_before'>
  >;
}

/** A new reason of one of these is a step that people wait for; elsewhere it may change often. */
const WAITING: readonly TaskStatus[] = ['scheduled', 'in queue'];

/**
 * The only place that changes the status of a task. It writes the timeline and wakes the worker of its server. Returns
 * false, and changes nothing, when the contract's table does not allow the transition.
 */
export async function transitionTask(
  ctx: Pick<Context, 'log'>,
  trx: Db,
  taskId: number,
  to: TaskStatus,
  { reason, deadline, actorId, columns }: TaskEvidence = {},
): Promise<boolean> {
  const row = await trx
    .selectFrom('task')
    .select(['id', 'workspace_id', 'instance_id', 'status', 'status_reason', 'run_number'])
    .where('id', '=', taskId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) return false;
  const isChange = row.status !== to;
  if (isChange && !TASK_MOVES[row.status].includes(to)) {
    ctx.log.warn({ taskId, from: row.status, to, reason }, 'refused an impossible move of a task');
    return false;
  }
  const newReason = reason === undefined ? (isChange ? null : row.status_reason) : reason;
  const isNews = isChange || newReason !== row.status_reason;
  await trx
    .updateTable('task')
    .set({
      ...columns,
      status: to,
      status_reason: newReason,
      ...(isChange && { status_since: sql<Date>`clock_timestamp()`, status_deadline: deadline ?? null }),
      ...(!isChange && deadline !== undefined && { status_deadline: deadline }),
    })
    .where('id', '=', taskId)
    .execute();
  if (isChange || (isNews && newReason !== null && WAITING.includes(to))) {
    const run = columns?.run_number ?? row.run_number;
    await trx
      .insertInto('task_event')
      .values({ task_id: taskId, status: to, reason: newReason, run, actor_id: actorId ?? null })
      .execute();
  }
  if (isNews) await announceTask(trx, row);
  // Room that it held, or its place in the queue, is free.
  if (isChange && TASK_ENDED.includes(to)) await announce(trx, 'task', { instanceId: row.instance_id });
  return true;
}

export async function announceTask(db: Db, { id, workspace_id }: { id: number; workspace_id: number }): Promise<void> {
  await announce(db, 'changed', { entity: 'task', id, workspaceId: workspace_id });
}
