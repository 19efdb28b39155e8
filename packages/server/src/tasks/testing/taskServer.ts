import { api } from '@stagi/contract/api.ts';
import type { TaskStatus } from '@stagi/contract/taskRules.ts';
import type { TaskDetail } from '@stagi/contract/tasks.ts';
import { type Insertable, sql } from 'kysely';
import { expect } from 'vitest';
import { announce } from '../../bus/bus.ts';
import { inTransaction } from '../../db/pool.ts';
import type { TaskTable } from '../../db/taskTables.ts';
import { issueEnrolment } from '../../nodes/enrolment.ts';
import type { TestApp } from '../../testing/app.ts';
import { enrolNode, type NodeKey } from '../../testing/daemon.ts';
import { aProject, aRentedInstance, aSelfHostedServer, aStorage } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';
import { aTask } from '../../testing/taskFactories.ts';
import { connectTaskDaemon, type TaskDaemon } from './taskDaemon.ts';

/** A server with its daemon, attached to a project, and a storage. */
export interface TaskServer {
  id: number;
  projectId: number;
  storageId: number;
  key: NodeKey;
  daemon: TaskDaemon;
  /** Stores a task as its call does, and tells the worker. */
  submit(more?: Partial<Insertable<TaskTable>>): Promise<number>;
  view(taskId: number): Promise<TaskDetail>;
  /** Waits until the task has this status. */
  reaches(taskId: number, status: TaskStatus): Promise<TaskDetail>;
  /** The container of its last run. */
  containerOf(taskId: number): Promise<number>;
}

type Given = Parameters<typeof connectTaskDaemon>[2] & { kind?: 'rented' | 'self-hosted' };

export async function aConnectedServer(
  app: TestApp,
  owner: Person,
  { kind = 'rented', ...given }: Given = {},
): Promise<TaskServer> {
  const { ctx } = app;
  const id = await (kind === 'rented' ? aRentedInstance : aSelfHostedServer)(ctx, owner);
  const { token } = await inTransaction(ctx.db, (trx) => issueEnrolment(ctx, trx, id, kind));
  const key = await enrolNode(app.url, token);
  return joinServer(app, owner, id, key, await connectTaskDaemon(app.url, key, given));
}

/** Attaches a server whose daemon is connected to a new project. */
export async function joinServer(
  app: TestApp,
  owner: Person,
  id: number,
  key: NodeKey,
  daemon: TaskDaemon,
): Promise<TaskServer> {
  const { ctx } = app;
  const [projectId, storageId] = [await aProject(ctx, owner), await aStorage(ctx, owner)];
  await ctx.db.insertInto('project_instance').values({ project_id: projectId, instance_id: id }).execute();
  const view = async (taskId: number) => (await owner.client(api.tasks.view, { id: taskId })).entity;
  return {
    id,
    projectId,
    storageId,
    key,
    daemon,
    async submit(more = {}) {
      const taskId = await aTask(ctx, owner, 'new', {
        project_id: projectId,
        storage_id: storageId,
        instance_id: id,
        cpus: 1,
        ...more,
      });
      await announce(ctx.db, 'task', { instanceId: id });
      return taskId;
    },
    view,
    async reaches(taskId, status) {
      await expect.poll(async () => (await view(taskId)).status, { timeout: 15_000, interval: 20 }).toBe(status);
      return view(taskId);
    },
    async containerOf(taskId) {
      const found = await expect
        .poll(async () => (await containerIdOf(app, taskId)) ?? null, { timeout: 15_000, interval: 20 })
        .not.toBeNull()
        .then(() => containerIdOf(app, taskId));
      return found!;
    },
  };
}

async function containerIdOf({ ctx }: TestApp, taskId: number): Promise<number | null> {
  const { rows } = await sql<{ id: number | null }>`select r.container_id as id from task t
    join task_run r on r.task_id = t.id and r.number = t.run_number where t.id = ${taskId}`.execute(ctx.db);
  return rows[0]?.id ?? null;
}

/** What of ended tasks is still there; all zero when nothing is left behind. */
export async function leftBehind({ ctx }: TestApp, workspaceId: number) {
  const { rows } = await sql<{ containers: number; keys: number; runs: number; tasks: number }>`select
    (select count(*)::int from container c where c.workspace_id = ${workspaceId} and c.task_run_id is not null
      and c.deleted_at is null and c.desired <> 'absent') as containers,
    (select count(*)::int from s3_key k where k.workspace_id = ${workspaceId} and k.purpose = 'task'
      and k.revoked_at is null) as keys,
    (select count(*)::int from task_run r join task t on t.id = r.task_id where t.workspace_id = ${workspaceId}
      and r.ended_at is null) as runs,
    (select count(*)::int from task t where t.workspace_id = ${workspaceId}
      and t.status not in ('done', 'failed', 'canceled')) as tasks`.execute(ctx.db);
  return rows[0]!;
}

export const NOTHING_LEFT = { containers: 0, keys: 0, runs: 0, tasks: 0 };

/** Waits until nothing of ended tasks is left behind. */
export const expectNothingLeft = (app: TestApp, workspaceId: number): Promise<void> =>
  expect.poll(() => leftBehind(app, workspaceId), { timeout: 10_000, interval: 20 }).toEqual(NOTHING_LEFT);
