import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { transitionContainer } from '../containers/status.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { ContainerRow, Db } from '../db/schema.ts';
import { abortRunUploads, revokeRunKeys } from '../taskTransfer/runKeys.ts';
import { askToCancel } from './cancel.ts';
import { decide, hasEnded, type TaskStep } from './decide.ts';
import { type PlacedFacts, placedTasks } from './facts.ts';
import { hasRunLeft } from './quota.ts';
import { transitionTask } from './status.ts';

type Ctx = Pick<Context, 'db' | 'log'>;

/** More in one go points to a bug. */
const MAX_STEPS = 8;
const HOUR_MS = 3_600_000n;

/** Whether a step changes anything: most tasks only go on. */
export function isNews({ task }: PlacedFacts, step: TaskStep): boolean {
  if (step.do !== 'tell') return true;
  return step.reason !== task.status_reason || step.deadline?.getTime() !== task.status_deadline?.getTime();
}

/**
 * Takes a placed task as far as it goes now, in one transaction that holds its row and its container. A retry counts as a
 * run of the day, whose lock comes before these: `false` says that it must be called again with `canRetry`. Skips a task
 * that another process has; the next pass finds it.
 */
export function advance(ctx: Ctx, { task }: PlacedFacts, { canRetry }: { canRetry: boolean }): Promise<boolean> {
  return inTransaction(ctx.db, async (trx) => {
    const isRunLeft = canRetry && (await hasRunLeft(trx, { ...task, id: task.workspace_id }));
    if (!(await lock(trx, task.id))) return true;
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const [facts] = await placedTasks(trx, sql`t.id = ${task.id}`, 1);
      if (!facts) return true;
      const step = decide(facts);
      if (step.do === 'retry' && !canRetry) return false;
      await apply(ctx, trx, facts, step.do === 'retry' && !isRunLeft ? withoutRun(step.reason) : step);
      if (step.do === 'tell') return true;
    }
    throw new Error(`task ${task.id} does not come to rest`);
  });
}

const withoutRun = (cause: string): TaskStep => ({
  do: 'end',
  as: 'failed',
  reason: text('{{cause}}. It is not tried again: the plan allows no more runs today (UTC)', { cause }),
});

/** The task first, then its container, which daemons' reports change. */
async function lock(trx: Db, taskId: number): Promise<boolean> {
  const { rows } = await sql`select from task where id = ${taskId} for no key update skip locked`.execute(trx);
  if (rows.length === 0) return false;
  await sql`select from container where id = (select r.container_id from task_run r join task t on t.id = r.task_id
    where t.id = ${taskId} and r.number = t.run_number) for no key update`.execute(trx);
  return true;
}

async function apply(ctx: Ctx, trx: Db, facts: PlacedFacts, step: TaskStep): Promise<void> {
  const { task, container } = facts;
  switch (step.do) {
    case 'start':
      await trx
        .updateTable('task_run')
        .set({ started_at: container.startedAt, price_micro_per_hour: facts.pricePerHour })
        .where('id', '=', facts.run.id)
        .execute();
      await transitionTask(ctx, trx, task.id, 'running', { columns: { started_at: container.startedAt } });
      return;
    case 'cancel':
      return askToCancel(ctx, trx, task.id, { reason: step.reason });
    case 'steer':
      return steer(trx, facts, step.desired);
    case 'tell':
      if (!isNews(facts, step)) return;
      if (hasEnded(container))
        await trx
          .updateTable('task_run')
          .set({ finished_at: container.finishedAt, exit_code: container.exitCode, output_phase: 'saving' })
          .where('id', '=', facts.run.id)
          .execute();
      await transitionTask(ctx, trx, task.id, facts.status, { reason: step.reason, deadline: step.deadline });
      return;
    case 'end': {
      const columns = await endRun(trx, facts, step.reason);
      if (step.as === 'canceled' && facts.status === 'running')
        await transitionTask(ctx, trx, task.id, 'canceling', { reason: step.reason });
      await transitionTask(ctx, trx, task.id, step.as, { reason: step.reason, columns });
      return;
    }
    case 'retry':
      return retry(ctx, trx, facts, step);
  }
}

async function steer(trx: Db, { containerId, container }: PlacedFacts, desired: ContainerRow['desired']) {
  const { status } = container;
  if (desired === 'absent') {
    const to = status === 'creation failed' ? 'deleted' : 'terminating';
    await transitionContainer(trx, containerId, to, { desired });
  } else {
    const isStopped = desired === 'stopped' && (status === 'running' || status === 'starting');
    await transitionContainer(trx, containerId, isStopped ? 'stopping' : status, { desired });
  }
}

/** Closes the current run and removes its container. Returns what the task shows of its last run. */
async function endRun(trx: Db, facts: PlacedFacts, reason: string | null) {
  const { container, run, task } = facts;
  const { report } = container;
  // It may have started in the moment in which it was canceled.
  const started = run.started_at ?? container.startedAt;
  const seen = hasEnded(container) ? container.finishedAt! : facts.now;
  const finished = started && started > seen ? started : seen;
  const price = run.started_at ? run.price_micro_per_hour : facts.pricePerHour;
  const ran = started ? Math.max(0, finished.getTime() - started.getTime()) : 0;
  const cost = (price * BigInt(ran)) / HOUR_MS;
  const isSaved = report?.phase === 'saved';
  await trx
    .updateTable('task_run')
    .set({
      ended_at: sql<Date>`clock_timestamp()`,
      started_at: started,
      price_micro_per_hour: price,
      finished_at: finished,
      exit_code: container.exitCode,
      reason,
      cost_micro: cost,
      output_phase: isSaved ? 'saved' : started ? 'not saved' : 'none',
      output_files: report?.files ?? 0,
      output_bytes: BigInt(report?.bytes ?? 0),
      output_skipped: report?.skipped ?? 0,
      output_error: isSaved || !started ? null : (report?.error ?? reason),
    })
    .where('id', '=', run.id)
    .execute();
  if (container.desired !== 'absent' || container.status === 'creation failed') await steer(trx, facts, 'absent');
  await abortRunUploads(trx, run.id);
  await revokeRunKeys(trx, run.id);
  return {
    started_at: started,
    finished_at: finished,
    exit_code: container.exitCode,
    cost_micro: task.cost_micro + cost,
  };
}

async function retry(
  ctx: Ctx,
  trx: Db,
  facts: PlacedFacts,
  { reason, afterMs }: Extract<TaskStep, { do: 'retry' }>,
): Promise<void> {
  const { cost_micro } = await endRun(trx, facts, reason);
  const { task, runNumber } = facts;
  const notBefore = new Date(facts.now.getTime() + afterMs);
  await trx
    .insertInto('task_run')
    .values({ task_id: task.id, number: runNumber + 1 })
    .execute();
  await trx.updateTable('task').set({ placed: false, overtaken_at: null }).where('id', '=', task.id).execute();
  await transitionTask(ctx, trx, task.id, 'scheduled', {
    reason: text('It is tried again: {{cause}}', { cause: reason }),
    deadline: notBefore,
    columns: {
      cost_micro,
      run_number: runNumber + 1,
      not_before: notBefore,
      started_at: null,
      finished_at: null,
      exit_code: null,
    },
  });
}
