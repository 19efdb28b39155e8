import { randomUUID } from 'node:crypto';
import type { Permission } from '@stagi/contract/permissions.ts';
import { plainLine } from '@stagi/contract/plainText.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { PRIORITY_ORDER } from '@stagi/contract/taskRules.ts';
import type { CreateTask } from '@stagi/contract/tasks.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { z } from 'zod';
import { announce } from '../bus/bus.ts';
import { checkPolicy, type ServerSize } from '../containers/capacity.ts';
import { type FormerEnv, fillEnv } from '../containers/fillEnv.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused, workspaceGone } from '../http/errors.ts';
import { announceProject } from '../projects/status.ts';
import { changeableProject, type FoundCommit } from './commit.ts';
import { type Env, sealTaskEnv } from './env.ts';
import { requireRun } from './quota.ts';
import { requireTaskRights } from './rights.ts';
import { requireServer } from './servers.ts';
import { announceTask } from './status.ts';
import { requireInput, requireStorage } from './storage.ts';

/** Who a task is made for. */
export interface Maker extends Context {
  user: { id: number };
  workspace: { id: number; permissions: readonly Permission[] } & WorkspacePlan;
}

export type TaskInput = Omit<z.output<typeof CreateTask>, 'cloneOf'>;

interface Origin {
  /** Values of variables that the input names without one. */
  former: FormerEnv;
  scheduleId: number | null;
}

const TITLE_MAX = 100;
/** The title of a task in whose message and command nothing can be seen. */
const COMMAND = 'command';

/**
 * Stores a new task and its first run; the worker starts it. Returns its id. `commit` was looked up outside of the
 * transaction. Refusals name the fields of the form.
 */
export async function createTask(
  ctx: Maker,
  input: TaskInput,
  commit: FoundCommit,
  { former, scheduleId }: Origin,
): Promise<number> {
  requireTaskRights(ctx.workspace);
  return inTransaction(ctx.db, async (trx) => {
    await requireBalance(trx, ctx.workspace.id);
    const caller = { db: trx, workspace: ctx.workspace };
    const { id: projectId } = await changeableProject(caller, input.projectRef);
    const { instanceId, storage } = await checkPlaces(trx, ctx.workspace.id, projectId, input);
    await requireInput(trx, storage, input.inputUrlPath);
    const env = fillEnv(input.env, former, instanceId);
    await requireRun(trx, ctx.workspace);
    const { id: createdBy } = ctx.user;
    const id = await insert(ctx, trx, input, {
      projectId,
      instanceId,
      storageId: storage.id,
      commit,
      env,
      scheduleId,
      createdBy,
    });
    await announceTask(trx, { id, workspace_id: ctx.workspace.id });
    await announceProject(trx, { id: projectId, workspace_id: ctx.workspace.id });
    await announce(trx, 'task', { instanceId });
    return id;
  });
}

/** Server and storage of a task, and whether the policy allows it there. */
export async function checkPlaces(trx: Db, workspaceId: number, projectId: number, input: TaskInput) {
  const server = await requireServer(trx, workspaceId, projectId, input);
  const storage = await requireStorage(trx, workspaceId, input.storageRef);
  checkTaskPolicy(server.size, input);
  return { instanceId: server.id, storage };
}

/** What a container form calls other names. */
const FIELD_NAMES = { dockerImage: 'image', gpuIds: 'gpuCount' };

function checkTaskPolicy(size: ServerSize, input: TaskInput): void {
  const spec = {
    image: input.image,
    command: [input.command],
    env: input.env.map(({ name }) => ({ name, value: '' })),
    nanoCpus: Math.round(input.cpus * 1e9),
    memoryBytes: null,
    gpuIds: size.gpuIds.slice(0, input.gpuCount),
    ports: [],
    directories: [],
    restartPolicy: 'no' as const,
  };
  checkPolicy(size, { slug: 'task', spec, task: input }, FIELD_NAMES);
}

/** At zero balance everything is paused. */
async function requireBalance(trx: Db, workspaceId: number): Promise<void> {
  const workspace = await trx
    .selectFrom('workspace')
    .select('exhausted_at')
    .where('id', '=', workspaceId)
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  if (!workspace) throw workspaceGone();
  if (workspace.exhausted_at) throw refused(text('Zero balance: no task can start until a deposit'));
}

interface Found {
  projectId: number;
  instanceId: number;
  storageId: number;
  commit: FoundCommit;
  env: Env;
  scheduleId: number | null;
  createdBy: number;
}

async function insert(ctx: Maker, trx: Db, input: TaskInput, found: Found): Promise<number> {
  const { projectId, commit, env } = found;
  // Repeats the condition under the lock: whoever archives or deletes the project waits, and then finds this task.
  const project = await trx
    .updateTable('project')
    .set({ task_ordinal: sql<number>`task_ordinal + 1` })
    .where('id', '=', projectId)
    .where('status', 'in', ['active', 'creating'])
    .returning('task_ordinal')
    .executeTakeFirst();
  if (!project) throw invalid(text('This project cannot be chosen'), 'projectRef');
  const place = { project_id: projectId, ordinal: project.task_ordinal };
  const row = await trx
    .insertInto('task')
    .values({
      ...place,
      workspace_id: ctx.workspace.id,
      instance_id: found.instanceId,
      storage_id: found.storageId,
      // Its name follows from its id.
      slug: input.slug ?? randomUUID(),
      title: titleOf(input, commit),
      input_url_path: input.inputUrlPath,
      input_path: input.inputPath,
      output_path: input.outputPath,
      code_path: input.codePath,
      command: input.command,
      commit_sha: commit.sha,
      commit_message: commit.message,
      commit_at: commit.at,
      commit_ref: commit.ref,
      image: input.image,
      cpus: input.cpus,
      gpu_count: input.gpuCount,
      env_names: env.map(({ name }) => name),
      env_sealed: sealTaskEnv(ctx, place, env),
      time_limit_minutes: input.timeLimitMinutes,
      stop_grace_seconds: input.stopGraceSeconds,
      retries: input.retries,
      retry_on_failure: input.retryOnFailure,
      priority: PRIORITY_ORDER[input.priority],
      schedule_id: found.scheduleId,
      created_by: found.createdBy,
    })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'slug']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!row) throw invalid(text('This Unique ID is taken'), 'slug');
  if (input.slug === undefined)
    await trx
      .updateTable('task')
      .set({ slug: `task-${row.id}` })
      .where('id', '=', row.id)
      .execute();
  await trx.insertInto('task_run').values({ task_id: row.id, number: 1 }).execute();
  await trx
    .insertInto('task_event')
    .values({ task_id: row.id, status: 'new', run: 1, actor_id: found.scheduleId === null ? found.createdBy : null })
    .execute();
  return row.id;
}

function titleOf({ title, command }: TaskInput, { message }: FoundCommit): string {
  return title || plainLine(message, TITLE_MAX) || plainLine(command.split('\n')[0]!, TITLE_MAX) || COMMAND;
}
