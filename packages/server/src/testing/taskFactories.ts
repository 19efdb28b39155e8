import type { TaskStatus } from '@stagi/contract/taskRules.ts';
import { type Insertable, sql } from 'kysely';
import type { Context } from '../context.ts';
import type { TaskTable } from '../db/taskTables.ts';
import { aContainer, aProject, aRentedInstance, aStorage, next } from './factories.ts';
import type { Person } from './person.ts';

/** A task that runs nowhere, made as if at once; with a project and a storage of its own unless they are given. */
export async function aTask(
  ctx: Context,
  owner: Person,
  status: TaskStatus = 'done',
  given: Partial<Insertable<TaskTable>> = {},
): Promise<number> {
  const projectId = given.project_id ?? (await aProject(ctx, owner));
  const { task_ordinal: ordinal } = await ctx.db
    .updateTable('project')
    .set({ task_ordinal: sql<number>`task_ordinal + 1` })
    .where('id', '=', projectId)
    .returning('task_ordinal')
    .executeTakeFirstOrThrow();
  const slug = `a-task-${next()}-${Date.now()}`;
  const task = await ctx.db
    .insertInto('task')
    .values({
      workspace_id: owner.workspaceId,
      project_id: projectId,
      instance_id: given.instance_id ?? (await aRentedInstance(ctx, owner)),
      storage_id: given.storage_id ?? (await aStorage(ctx, owner)),
      ordinal,
      slug,
      title: `Task ${slug}`,
      input_url_path: 'data/',
      input_path: '/input',
      output_path: '/output',
      code_path: '/workspace',
      command: 'true',
      commit_sha: 'a'.repeat(40),
      commit_message: 'Begin',
      image: 'busybox',
      cpus: 1,
      gpu_count: 0,
      env_sealed: ctx.secrets.seal('[]', `task|env|${projectId}|${ordinal}`),
      created_by: owner.userId,
      status,
      ...given,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await ctx.db.insertInto('task_run').values({ task_id: task.id, number: 1 }).execute();
  return task.id;
}

export interface PlacedRun {
  taskId: number;
  runId: number;
  containerId: number;
}

/** A running task whose run has a container; it has no keys. */
export async function aPlacedRun(
  ctx: Context,
  owner: Person,
  given: Partial<Insertable<TaskTable>> = {},
): Promise<PlacedRun> {
  const taskId = await aTask(ctx, owner, 'running', given);
  const { instance_id: instanceId, ...task } = await ctx.db
    .selectFrom('task')
    .select(['instance_id', 'code_path', 'input_path', 'output_path'])
    .where('id', '=', taskId)
    .executeTakeFirstOrThrow();
  const containerId = await aContainer(ctx, owner, instanceId);
  const { id: runId } = await ctx.db
    .updateTable('task_run')
    .set({ container_id: containerId, started_at: sql<Date>`clock_timestamp()` })
    .where('task_id', '=', taskId)
    .returning('id')
    .executeTakeFirstOrThrow();
  await ctx.db.updateTable('task').set({ placed: true }).where('id', '=', taskId).execute();
  await ctx.db
    .updateTable('container')
    .set({
      task_run_id: runId,
      task_spec: JSON.stringify({
        codePath: task.code_path,
        inputPath: task.input_path,
        outputPath: task.output_path,
        timeLimitSeconds: null,
      }),
    })
    .where('id', '=', containerId)
    .execute();
  return { taskId, runId, containerId };
}

/** A schedule of a project that nothing runs in: every night. */
export async function aSchedule(ctx: Context, owner: Person): Promise<number> {
  const instanceId = await aRentedInstance(ctx, owner);
  const [storageId, projectId] = [await aStorage(ctx, owner), await aProject(ctx, owner)];
  const row = await ctx.db
    .insertInto('task_schedule')
    .values({
      workspace_id: owner.workspaceId,
      project_id: projectId,
      title: 'Every night',
      cron: '0 2 * * *',
      time_zone: 'UTC',
      fields: JSON.stringify({
        projectId,
        instanceId,
        storageId,
        inputUrlPath: 'data/',
        inputPath: '/input',
        outputPath: '/output',
        codePath: '/workspace',
        command: 'true',
        commit: 'main',
        image: 'busybox',
        cpus: 1,
        gpuCount: 0,
        envNames: [],
        timeLimitMinutes: null,
        retries: 0,
        retryOnFailure: false,
        priority: 'normal',
      }),
      instance_id: instanceId,
      storage_id: storageId,
      env_sealed: '',
      created_by: owner.userId,
      next_at: new Date(Date.now() + 86_400_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}
