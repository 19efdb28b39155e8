import { STOP_GRACE } from '@stagi/contract/containerFields.ts';
import type { TaskFields } from '@stagi/contract/taskFields.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import { type FormerEnv, fillEnv } from '../containers/fillEnv.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, TaskScheduleRow } from '../db/schema.ts';
import { requireVersion } from '../http/editVersion.ts';
import { invalid, PublicError, refused } from '../http/errors.ts';
import { changeableProject, findCommit } from './commit.ts';
import { checkPlaces, type Maker, type TaskInput } from './create.ts';
import { nextTime, requireTimetable } from './cron.ts';
import { type Env, openScheduleEnv, sealScheduleEnv } from './env.ts';
import { formerEnv } from './formerEnv.ts';
import { ROLES_WITH_TASKS, requireTaskRights } from './rights.ts';
import { lockSchedule, type ScheduleInput, scheduleVersion } from './schedules.ts';

const SCHEDULES_MAX = 100;

/** Stores a new schedule; the worker starts its tasks. Returns its id. Its commit exists now, and is looked up anew later. */
export async function createSchedule(ctx: Maker, input: ScheduleInput<'createSchedule'>): Promise<number> {
  requireTaskRights(ctx.workspace);
  return inTransaction(ctx.db, async (trx) => {
    const nextAt = requireTimetable(input, ctx.clock.now());
    const project = await changeableProject({ db: trx, workspace: ctx.workspace }, input.projectRef);
    const { instanceId, storage } = await checkPlaces(trx, ctx.workspace.id, project.id, input);
    const env = fillEnv(input.env, await formerEnv(ctx, trx, input.cloneOf), instanceId);
    // Locked: two at once are counted one after the other, and none is made in a project that is being deleted.
    await trx.selectFrom('project').select('id').where('id', '=', project.id).forNoKeyUpdate().execute();
    await changeableProject({ db: trx, workspace: ctx.workspace }, { id: project.id });
    await requirePlace(trx, project.id);
    const { id } = await trx
      .insertInto('task_schedule')
      .values({
        workspace_id: ctx.workspace.id,
        project_id: project.id,
        title: input.title,
        cron: input.cron,
        time_zone: input.timeZone,
        fields: JSON.stringify(storedFields(input, { projectId: project.id, instanceId, storageId: storage.id, env })),
        instance_id: instanceId,
        storage_id: storage.id,
        env_names: env.map(({ name }) => name),
        env_sealed: '',
        created_by: ctx.user.id,
        next_at: nextAt,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    // Bound to its id.
    await trx
      .updateTable('task_schedule')
      .set({ env_sealed: sealScheduleEnv(ctx, id, env) })
      .where('id', '=', id)
      .execute();
    await announceSchedules(trx, ctx.workspace.id);
    return id;
  });
}

async function requirePlace(trx: Db, projectId: number): Promise<void> {
  const { count } = await trx
    .selectFrom('task_schedule')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (count >= SCHEDULES_MAX)
    throw refused(text('A project can have {{limit}} schedules: delete one that is not used'), {
      limit: SCHEDULES_MAX,
    });
}

/** Refuses a commit that does not exist now. Runs git: never within a transaction. */
export async function checkCommitOfSchedule(ctx: Maker, { task }: ScheduleInput<'editSchedule'>): Promise<void> {
  if (task) await below('task', () => findCommit(ctx, task));
}

/** Changes a schedule, pauses it, or lets it go on. It keeps its maker, unless that person can run tasks no longer. */
export async function editSchedule(ctx: Maker, input: ScheduleInput<'editSchedule'>): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const schedule = await lockSchedule(trx, ctx.workspace.id, input.id);
    requireVersion(input.version, scheduleVersion(schedule));
    const timetable = { cron: input.cron ?? schedule.cron, timeZone: input.timeZone ?? schedule.time_zone };
    const isNew = input.cron !== undefined || input.timeZone !== undefined;
    const isPaused = input.isPaused ?? schedule.paused_at !== null;
    const resumes = schedule.paused_at !== null && !isPaused;
    const firstAt = isNew ? requireTimetable(timetable, ctx.clock.now()) : null;
    // It goes on as its maker, who may be somebody else.
    if (resumes) requireTaskRights(ctx.workspace);
    const task = input.task && (await changedTask(ctx, trx, schedule, input.task));
    await trx
      .updateTable('task_schedule')
      .set({
        cron: timetable.cron,
        time_zone: timetable.timeZone,
        ...(input.title !== undefined && { title: input.title }),
        ...((isNew || resumes) && { next_at: firstAt ?? nextTime(timetable, ctx.clock.now()) }),
        ...(isPaused &&
          schedule.paused_at === null && { paused_at: sql<Date>`clock_timestamp()`, paused_reason: null }),
        ...(resumes && { paused_at: null, paused_reason: null, ...(await heir(ctx, trx, schedule)) }),
        ...task,
      })
      .where('id', '=', schedule.id)
      .execute();
    await announceSchedules(trx, ctx.workspace.id);
  });
}

async function changedTask(ctx: Maker, trx: Db, schedule: TaskScheduleRow, input: TaskInput & { cloneOf?: unknown }) {
  return below('task', async () => {
    requireTaskRights(ctx.workspace);
    const project = await changeableProject({ db: trx, workspace: ctx.workspace }, input.projectRef);
    if (project.id !== schedule.project_id)
      throw invalid(text('A schedule stays in its project: create another one there'), 'projectRef');
    const { instanceId, storage } = await checkPlaces(trx, ctx.workspace.id, project.id, input);
    const former = { variables: openScheduleEnv(ctx, schedule), instanceId: schedule.instance_id, isHidden: true };
    const env = fillEnv(input.env, former, instanceId);
    return {
      fields: JSON.stringify(storedFields(input, { projectId: project.id, instanceId, storageId: storage.id, env })),
      instance_id: instanceId,
      storage_id: storage.id,
      env_names: env.map(({ name }) => name),
      env_sealed: sealScheduleEnv(ctx, schedule.id, env),
    };
  });
}

/** Who a schedule acts as from now on, if its maker has left or may run tasks no longer. */
async function heir(ctx: Maker, trx: Db, { created_by }: TaskScheduleRow): Promise<{ created_by?: number }> {
  const maker =
    created_by === null
      ? undefined
      : await trx
          .selectFrom('membership')
          .innerJoin('app_user', 'app_user.id', 'membership.user_id')
          .select('membership.role')
          .where('membership.workspace_id', '=', ctx.workspace.id)
          .where('membership.user_id', '=', created_by)
          .where('app_user.disabled_at', 'is', null)
          .where('membership.role', 'in', ROLES_WITH_TASKS)
          .executeTakeFirst();
  return maker ? {} : { created_by: ctx.user.id };
}

export async function deleteSchedule(ctx: Maker, { id }: ScheduleInput<'deleteSchedule'>): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const schedule = await lockSchedule(trx, ctx.workspace.id, id);
    await trx
      .updateTable('task_schedule')
      .set({ deleted_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', schedule.id)
      .execute();
    await announceSchedules(trx, ctx.workspace.id);
  });
}

/** The pages of tasks show schedules, too. */
export async function announceSchedules(db: Db, workspaceId: number): Promise<void> {
  await announce(db, 'changed', { entity: 'task', id: null, workspaceId });
}

function storedFields(
  input: TaskInput,
  { projectId, instanceId, storageId, env }: { projectId: number; instanceId: number; storageId: number; env: Env },
): TaskFields {
  return {
    projectId,
    instanceId,
    storageId,
    inputUrlPath: input.inputUrlPath,
    inputPath: input.inputPath,
    outputPath: input.outputPath,
    codePath: input.codePath,
    command: input.command,
    commit: input.commit,
    image: input.image,
    cpus: input.cpus,
    gpuCount: input.gpuCount,
    envNames: env.map(({ name }) => name),
    timeLimitMinutes: input.timeLimitMinutes,
    stopGraceSeconds: input.stopGraceSeconds,
    retries: input.retries,
    retryOnFailure: input.retryOnFailure,
    priority: input.priority,
  };
}

/** What each task of a schedule is made of, for `createTask`. */
export function taskOfSchedule(
  ctx: Pick<Context, 'secrets'>,
  schedule: TaskScheduleRow,
): { input: TaskInput; former: FormerEnv } {
  const variables = openScheduleEnv(ctx, schedule);
  const { project_id, instance_id, storage_id, fields } = schedule;
  const { projectId, instanceId, storageId, envNames, ...rest } = fields;
  return {
    former: { variables, instanceId: instance_id, isHidden: true },
    input: {
      ...rest,
      stopGraceSeconds: rest.stopGraceSeconds ?? STOP_GRACE.usual,
      projectRef: { id: project_id },
      instanceRef: { id: instance_id },
      storageRef: { id: storage_id },
      env: variables,
      title: schedule.title,
    },
  };
}

/** Names the fields of a refusal as those of a part of the input. */
async function below<T>(part: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PublicError) || error.status !== 400) throw error;
    const { template, message, values, fieldsWithError = [], fieldMessages = {} } = error.body;
    throw new PublicError(400, template ?? message, {
      fieldsWithError: fieldsWithError.map((field) => `${part}.${field}`),
      fieldMessages: Object.fromEntries(
        Object.entries(fieldMessages).map(([field, told]) => [`${part}.${field}`, told]),
      ),
      ...(values && { values }),
      cause: error,
    });
  }
}
