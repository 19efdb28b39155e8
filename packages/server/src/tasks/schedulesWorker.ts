import { ROLE_PERMISSIONS, type Role } from '@stagi/contract/permissions.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import type { ProjectStatus } from '@stagi/contract/projectRules.ts';
import { TASK_ENDED, type TaskStatus } from '@stagi/contract/taskRules.ts';
import type { TaskSchedule } from '@stagi/contract/taskSchedules.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { ZERO_BALANCE } from '../billing/zero.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, TaskScheduleRow } from '../db/schema.ts';
import { PublicError } from '../http/errors.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { announceSchedules, taskOfSchedule } from './changeSchedule.ts';
import { type FoundCommit, findCommit } from './commit.ts';
import { createTask } from './create.ts';
import { nextTime } from './cron.ts';
import { ROLES_WITH_TASKS } from './rights.ts';
import { PROJECT_ARCHIVED, WORKSPACE_DISABLED, whatIsGone } from './waiting.ts';

const PASS_MS = 1_000;
const MAX_PER_PASS = 50;

/** Starts tasks of schedules at their times. Any number of these workers may run on one database. */
export function startScheduleWorker(ctx: Context): { stop(): Promise<void> } {
  return repeatEvery(ctx, PASS_MS, 'schedules of tasks', () => lookAfterSchedules(ctx));
}

export async function lookAfterSchedules(ctx: Context): Promise<void> {
  await pauseOrphans(ctx);
  const { rows } = await sql<{ id: number }>`select id from task_schedule
    where deleted_at is null and paused_at is null and next_at <= clock_timestamp()
    order by next_at limit ${MAX_PER_PASS}`.execute(ctx.db);
  for (const { id } of rows) {
    try {
      await runDue(ctx, id);
    } catch (error) {
      ctx.log.error({ err: error, scheduleId: id }, 'a schedule could not be followed; it is tried again');
    }
  }
}

interface DueSchedule extends TaskScheduleRow, WorkspacePlan {
  project_status: ProjectStatus;
  workspace_disabled: boolean;
  exhausted: boolean;
  /** That of its maker; null: they are no member who may make tasks. */
  maker_role: Role | null;
  last_task_status: TaskStatus | null;
  now: Date;
}

const DUE = sql<DueSchedule>`select s.*, p.status as project_status, w.plan, w.quotas, w.exhausted_at is not null as exhausted,
    (w.disabled_at is not null or w.deleted_at is not null) as workspace_disabled,
    (select m.role from membership m join app_user u on u.id = m.user_id
      where m.workspace_id = s.workspace_id and m.user_id = s.created_by and u.disabled_at is null
        and m.role in (${sql.join(ROLES_WITH_TASKS)})) as maker_role,
    (select t.status from task t where t.id = s.last_task_id) as last_task_status, clock_timestamp() as now
  from task_schedule s join project p on p.id = s.project_id join workspace w on w.id = s.workspace_id
  where s.deleted_at is null and s.paused_at is null`;

/** Why a schedule cannot go on by itself; null: it can. */
function reasonToPause(schedule: DueSchedule): string | null {
  const { project_status: project, workspace_disabled: isDisabled } = schedule;
  if (isDisabled) return WORKSPACE_DISABLED;
  const gone = whatIsGone({ project, storage: 'rented', workspace: { isDisabled, exhaustedAt: null } });
  if (gone) return gone;
  if (project === 'archived') return PROJECT_ARCHIVED;
  return schedule.maker_role ? null : text('Whoever made it may not run tasks any more');
}

/** Pauses schedules that cannot go on, whenever their time is. */
async function pauseOrphans(ctx: Context): Promise<void> {
  const { rows } = await sql<{ id: number }>`select id from (${DUE}) s
    where s.workspace_disabled or s.project_status not in ('active', 'creating') or s.maker_role is null
    order by id limit ${MAX_PER_PASS}`.execute(ctx.db);
  for (const { id } of rows)
    await inTransaction(ctx.db, async (trx) => {
      const schedule = await lockDue(trx, id);
      const reason = schedule && reasonToPause(schedule);
      if (schedule && reason) await pause(trx, schedule, reason);
    });
}

/** Its facts are read after its lock. Skips one that another process has. */
async function lockDue(trx: Db, id: number): Promise<DueSchedule | undefined> {
  const locked = await sql`select from task_schedule where id = ${id} for no key update skip locked`.execute(trx);
  if (locked.rows.length === 0) return undefined;
  const { rows } = await sql<DueSchedule>`${DUE} and s.id = ${id}`.execute(trx);
  return rows[0];
}

async function pause(trx: Db, { id, workspace_id }: TaskScheduleRow, reason: string): Promise<void> {
  await trx
    .updateTable('task_schedule')
    .set({ paused_at: sql<Date>`clock_timestamp()`, paused_reason: reason })
    .where('id', '=', id)
    .execute();
  await announceSchedules(trx, workspace_id);
}

/** What the lookup of its commit came to, which runs git and so comes before the transaction. */
type Lookup = { commit: FoundCommit } | { refusal: string };

async function runDue(ctx: Context, id: number): Promise<void> {
  const { rows } = await sql<DueSchedule>`${DUE} and s.id = ${id}`.execute(ctx.db);
  const schedule = rows[0];
  if (!schedule) return;
  const lookup = await lookUp(ctx, schedule);
  const refusal = await startTask(ctx, schedule, lookup);
  if (refusal === null) return;
  await inTransaction(ctx.db, async (trx) => {
    const current = await lockDue(trx, id);
    if (isSameTime(current, schedule)) await note(trx, current, { result: 'failed', reason: refusal, taskId: null });
  });
}

async function lookUp(ctx: Context, schedule: DueSchedule): Promise<Lookup> {
  const { input } = taskOfSchedule(ctx, schedule);
  try {
    return { commit: await findCommit({ ...ctx, workspace: { id: schedule.workspace_id } }, input) };
  } catch (error) {
    if (error instanceof PublicError && error.status < 500) return { refusal: error.message };
    throw error;
  }
}

/** One transaction starts the task and sets the next time, so that no time is used twice. Answers why it was refused. */
async function startTask(ctx: Context, schedule: DueSchedule, lookup: Lookup): Promise<string | null> {
  try {
    await inTransaction(ctx.db, async (trx) => {
      const current = await lockDue(trx, schedule.id);
      if (!isSameTime(current, schedule) || reasonToPause(current)) return;
      const skipped = reasonToSkip(current);
      if (skipped) return note(trx, current, { result: 'skipped', reason: skipped, taskId: null });
      if ('refusal' in lookup) return note(trx, current, { result: 'failed', reason: lookup.refusal, taskId: null });
      const { input, former } = taskOfSchedule(ctx, current);
      const permissions = ROLE_PERMISSIONS[current.maker_role!];
      const workspace = { id: current.workspace_id, plan: current.plan, quotas: current.quotas, permissions };
      const maker = { ...ctx, db: trx, user: { id: current.created_by! }, workspace };
      const taskId = await createTask(maker, input, lookup.commit, { former, scheduleId: current.id });
      await note(trx, current, { result: 'started', reason: null, taskId });
    });
    return null;
  } catch (error) {
    if (error instanceof PublicError && error.status < 500) return error.message;
    throw error;
  }
}

const isSameTime = (current: DueSchedule | undefined, before: DueSchedule): current is DueSchedule =>
  current?.next_at != null && current.next_at <= current.now && current.next_at.getTime() === before.next_at?.getTime();

function reasonToSkip({ exhausted, last_task_status: last }: DueSchedule): string | null {
  if (exhausted) return ZERO_BALANCE;
  return last !== null && !TASK_ENDED.includes(last) ? text('Its last task has not ended yet') : null;
}

/** Times that passed meanwhile count as one. */
async function note(
  trx: Db,
  schedule: DueSchedule,
  { result, reason, taskId }: { result: TaskSchedule['lastResult']; reason: string | null; taskId: number | null },
): Promise<void> {
  const next = nextTime({ cron: schedule.cron, timeZone: schedule.time_zone }, schedule.now);
  await trx
    .updateTable('task_schedule')
    .set({
      last_at: schedule.now,
      last_result: result,
      last_reason: reason,
      next_at: next,
      ...(taskId !== null && { last_task_id: taskId }),
    })
    .where('id', '=', schedule.id)
    .execute();
  if (next) await announceSchedules(trx, schedule.workspace_id);
  else await pause(trx, schedule, text('This time never comes'));
}
