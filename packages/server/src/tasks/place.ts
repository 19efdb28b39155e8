import type { DesiredTask } from '@stagi/contract/desiredState.ts';
import { OVERTAKE_MINUTES } from '@stagi/contract/taskRules.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { allocatedOn, type ServerSize, sizeOf } from '../containers/capacity.ts';
import { DOCUMENT_MAX_BYTES, desiredBytes } from '../containers/desired.ts';
import { insertTaskContainer } from '../containers/taskContainer.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, TaskRow } from '../db/schema.ts';
import { PublicError } from '../http/errors.ts';
import { createRunKeys } from '../taskTransfer/runKeys.ts';
import { type Env, openTaskEnv } from './env.ts';
import { surroundingsOfTasks, WAITS, type WaitingGroup } from './facts.ts';
import { planQueue, type Room } from './queue.ts';
import { transitionTask } from './status.ts';
import { mayStart } from './waiting.ts';
import { failWaiting } from './waitingTasks.ts';

type Ctx = Pick<Context, 'db' | 'log' | 'secrets'>;

/** Tasks at the head of a queue, and tasks that fit, which are looked at together. */
const LOOKED_AT = 100;
const OVERTAKEN_LONG = sql`interval '${sql.raw(String(OVERTAKE_MINUTES))} minutes'`;
/** What a task adds to the desired state of its server besides its environment and command. */
const SPEC_BYTES = 3_000;

const tenths = (cpus: number): number => Math.round(cpus * 10);

/** Servers among these for which a waiting task seems to have room; only for them a lock is worth while. */
export async function serversWithRoom(db: Db, instanceIds: readonly number[]): Promise<number[]> {
  if (instanceIds.length === 0) return [];
  const servers = await db
    .selectFrom('instance')
    .innerJoin('daemon_node', 'daemon_node.instance_id', 'instance.id')
    .select(['instance.id', 'instance.kind', 'instance.offer', 'daemon_node.facts'])
    .where('instance.id', 'in', [...instanceIds])
    .execute();
  const taken = await allocatedOn(db, instanceIds);
  const rooms = servers.flatMap(({ id, facts, ...server }) => {
    const size = sizeOf(server, facts);
    return size ? [{ id, size, room: roomOf(size, taken.get(id)) }] : [];
  });
  const column = (of: (room: (typeof rooms)[number]) => number) => sql`${rooms.map(of)}::int[]`;
  const { rows } = await sql<{ id: number }>`select r.id
    from unnest(${column(({ id }) => id)}, ${column(({ room }) => room.cpus)}, ${column(({ room }) => room.gpuIds.length)},
      ${column(({ size }) => tenths(size.cpus))}, ${column(({ size }) => size.gpuIds.length)})
      as r (id, cpus, gpus, most_cpus, most_gpus)
    where exists (select from task t where t.instance_id = r.id and ${WAITS} and t.not_before <= now()
      and (t.cpus * 10 <= r.cpus and t.gpu_count <= r.gpus or t.cpus * 10 > r.most_cpus or t.gpu_count > r.most_gpus))`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

function roomOf(size: ServerSize, taken: { cpus: number; gpuIds: readonly number[] } | undefined): Room {
  return {
    cpus: tenths(size.cpus) - tenths(taken?.cpus ?? 0),
    gpuIds: size.gpuIds.filter((gpu) => !taken?.gpuIds.includes(gpu)),
  };
}

/**
 * Gives places on one server to the tasks whose turn it is. `groups` are those of its waiting tasks that may start.
 * Returns how many got one; when that is none, nothing more has room now.
 */
export function placeTasks(ctx: Ctx, instanceId: number, groups: readonly WaitingGroup[]): Promise<number> {
  return inTransaction(ctx.db, async (trx) => {
    const size = await lockServer(trx, instanceId);
    if (!size) return 0;
    const room = roomOf(size, (await allocatedOn(trx, [instanceId])).get(instanceId));
    const accepted = acceptedBy(groups);
    await failTooLarge(ctx, trx, instanceId, size, accepted);
    const candidates = await candidatesFor(trx, instanceId, room, accepted);
    const starts = planQueue(room, candidates);
    const gpuIds = new Map(starts.map((start) => [start.id, start.gpuIds]));
    const tasks = await lockStartable(trx, [...gpuIds.keys()]);
    const placed: number[] = [];
    let bytes = tasks.length > 0 ? await desiredBytes(ctx, trx, instanceId) : 0;
    for (const task of tasks) {
      const env = openTaskEnv(ctx, task);
      const added = Buffer.byteLength(JSON.stringify(env)) + Buffer.byteLength(task.command) + SPEC_BYTES;
      if (added > DOCUMENT_MAX_BYTES) {
        await failWaiting(ctx, trx, task.id, text('Its environment is too large'));
      } else if (bytes + added <= DOCUMENT_MAX_BYTES) {
        bytes += added;
        if (await place(ctx, trx, size, task, env, gpuIds.get(task.id)!)) placed.push(task.id);
      }
    }
    if (placed.length > 0) await noteOvertaken(trx, instanceId, accepted, placed.at(-1)!);
    return placed.length;
  });
}

/** The lock keeps two processes, and whoever creates containers, from giving out the same CPU. Null: it takes none now. */
async function lockServer(trx: Db, instanceId: number): Promise<ServerSize | null> {
  const instance = await trx
    .selectFrom('instance')
    .select(['kind', 'status', 'offer'])
    .where('id', '=', instanceId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (instance?.status !== 'online') return null;
  const node = await trx
    .selectFrom('daemon_node')
    .select('facts')
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  return node?.facts ? sizeOf(instance, node.facts) : null;
}

/** SQL: whether the task `t` is of one of these groups, and its time has come. */
function acceptedBy(groups: readonly WaitingGroup[]) {
  const projects = groups.map(({ projectId }) => projectId);
  const storages = groups.map(({ storageId }) => storageId);
  return sql<boolean>`(t.not_before <= now()
    and (t.project_id, t.storage_id) in (select * from unnest(${projects}::int[], ${storages}::int[])))`;
}

/** Servers may have shrunk since a task was made. */
async function failTooLarge(
  ctx: Ctx,
  trx: Db,
  instanceId: number,
  size: ServerSize,
  accepted: ReturnType<typeof acceptedBy>,
): Promise<void> {
  const { rows } = await sql<{ id: number; cpus: string }>`select t.id, t.cpus from task t
    where t.instance_id = ${instanceId} and ${WAITS} and ${accepted}
      and (t.cpus > ${size.cpus} or t.gpu_count > ${size.gpuIds.length})
    order by t.id limit ${LOOKED_AT} for no key update skip locked`.execute(trx);
  for (const { id, cpus } of rows) {
    const reason =
      Number(cpus) > size.cpus
        ? text('CPUs: its server has only {{cpus}}', { cpus: size.cpus })
        : text('GPUs: its server has only {{gpus}}', { gpus: size.gpuIds.length });
    await failWaiting(ctx, trx, id, reason);
  }
}

interface Candidate {
  id: number;
  cpus: number;
  gpuCount: number;
  overtakenMs: number | null;
}

/**
 * The waiting tasks that decide what starts now, in the order of the queue: its head, the first that fit, and the first
 * that has been overtaken for long, which nothing may pass. All others need more than is free, so that they change nothing.
 */
async function candidatesFor(
  trx: Db,
  instanceId: number,
  room: Room,
  accepted: ReturnType<typeof acceptedBy>,
): Promise<Candidate[]> {
  const first = (condition: ReturnType<typeof acceptedBy>, limit: number) => sql`(select t.id from task t
    where t.instance_id = ${instanceId} and ${WAITS} and ${accepted} and ${condition}
    order by t.priority desc, t.id limit ${limit})`;
  const fits = sql<boolean>`(t.cpus * 10 <= ${room.cpus} and t.gpu_count <= ${room.gpuIds.length})`;
  const { rows } = await sql<Candidate>`select t.id, (t.cpus * 10)::int as cpus, t.gpu_count as "gpuCount",
      (extract(epoch from now() - t.overtaken_at) * 1000)::float8 as "overtakenMs"
    from task t where t.id in (${first(fits, LOOKED_AT)} union ${first(sql<boolean>`true`, LOOKED_AT)}
      union ${first(sql<boolean>`(not ${fits} and t.overtaken_at <= now() - ${OVERTAKEN_LONG})`, 1)})
    order by t.priority desc, t.id`.execute(trx);
  return rows;
}

/** In the order of the queue. Whoever deletes or detaches what they need waits for these rows, or has been seen. */
async function lockStartable(trx: Db, ids: readonly number[]): Promise<(TaskRow & { run_id: number })[]> {
  if (ids.length === 0) return [];
  const locked = await sql<{ id: number }>`select t.id from task t where t.id = any(${[...ids]}::int[]) and ${WAITS}
    order by t.priority desc, t.id for no key update skip locked`.execute(trx);
  const lockedIds = locked.rows.map(({ id }) => id);
  const around = await surroundingsOfTasks(trx, lockedIds);
  const startable = lockedIds.filter((id) => {
    const surroundings = around.get(id);
    return surroundings !== undefined && mayStart(surroundings).may === 'now';
  });
  const { rows } = await sql<TaskRow & { run_id: number }>`select t.*, r.id as run_id
    from task t join task_run r on r.task_id = t.id and r.number = t.run_number
    where t.id = any(${startable}::int[]) order by t.priority desc, t.id`.execute(trx);
  return rows;
}

/** Whether it got its place: one that the policy of its server forbids fails. */
async function place(
  ctx: Ctx,
  trx: Db,
  size: ServerSize,
  task: TaskRow & { run_id: number },
  env: Env,
  gpuIds: number[],
): Promise<boolean> {
  const wanted = {
    runId: task.run_id,
    workspaceId: task.workspace_id,
    instanceId: task.instance_id,
    projectId: task.project_id,
    slug: `task-${task.id}-${task.run_number}`,
    title: task.title,
    createdBy: task.created_by ?? (await anOwner(trx, task.workspace_id)),
    image: task.image,
    command: task.command,
    cpus: Number(task.cpus),
    gpuIds,
    stopGraceSeconds: task.stop_grace_seconds,
    env: [...env, ...platformEnv(task)],
    task: specOf(task),
  };
  const containerId = await insertTaskContainer(ctx, trx, size, wanted).catch((error: unknown) => {
    if (!(error instanceof PublicError)) throw error;
    return error.message;
  });
  if (typeof containerId === 'string') {
    await failWaiting(ctx, trx, task.id, containerId);
    return false;
  }
  await trx
    .updateTable('task_run')
    .set({ container_id: containerId, gpu_ids: gpuIds })
    .where('id', '=', task.run_id)
    .execute();
  await createRunKeys(ctx, trx, { task, run: { id: task.run_id } });
  await trx.updateTable('task').set({ placed: true }).where('id', '=', task.id).execute();
  await transitionTask(ctx, trx, task.id, 'in queue', { reason: text('Preparing on its server'), deadline: null });
  return true;
}

/** Whoever made the task has deleted their account: it runs for the workspace. */
async function anOwner(trx: Db, workspaceId: number): Promise<number> {
  const owner = await trx
    .selectFrom('membership')
    .select('user_id')
    .where('workspace_id', '=', workspaceId)
    .where('role', '=', 'Owner')
    .orderBy('user_id')
    .limit(1)
    .executeTakeFirstOrThrow();
  return owner.user_id;
}

const specOf = (task: TaskRow): Omit<DesiredTask, 'token'> => ({
  codePath: task.code_path,
  inputPath: task.input_path,
  outputPath: task.output_path,
  timeLimitSeconds: task.time_limit_minutes === null ? null : task.time_limit_minutes * 60,
});

const platformEnv = (task: TaskRow): Env => [
  { name: 'STAGI_TASK_ID', value: String(task.id) },
  { name: 'STAGI_RUN', value: String(task.run_number) },
  { name: 'STAGI_COMMIT', value: task.commit_sha },
  { name: 'STAGI_INPUT_PATH', value: task.input_path },
  { name: 'STAGI_OUTPUT_PATH', value: task.output_path },
];

/** Tasks before the last that starts now are overtaken: from the first time on, for a limited time. */
async function noteOvertaken(
  trx: Db,
  instanceId: number,
  accepted: ReturnType<typeof acceptedBy>,
  lastId: number,
): Promise<void> {
  await sql`update task t set overtaken_at = now() from task last
    where last.id = ${lastId} and t.instance_id = ${instanceId} and ${WAITS} and ${accepted} and t.overtaken_at is null
      and (t.priority > last.priority or (t.priority = last.priority and t.id < last.id))`.execute(trx);
}
