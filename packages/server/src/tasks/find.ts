import type { EntityFilterRequest, Ref } from '@stagi/contract/page.ts';
import type { Task, TaskEvent } from '@stagi/contract/tasks.ts';
import { type RawBuilder, sql } from 'kysely';
import type { ContainerRow, Db, TaskRow, TaskRunRow } from '../db/schema.ts';
import { cappedPage } from '../http/cappedPage.ts';
import { notFound } from '../http/errors.ts';
import { contains, isId, sortColumn } from '../http/paging.ts';
import { pricePerHour, WAITS_FOR_ROOM } from './servers.ts';

/** A task with what its screens show of other things. */
export interface TaskView extends TaskRow {
  creator: string | null;
  project: Task['project'];
  instance: Task['instance'];
  storage: Task['storage'];
  bucket: string;
  schedule: Task['schedule'];
  /** Of its server now. */
  price_per_hour: bigint;
  /** What its last run costs so far, unless it has ended. */
  running_micro: bigint;
  favorite: boolean;
  /** When the container of its last run was last seen. */
  seen_at: Date | null;
  /** Its place in the queue, from 1; null unless it waits for room. */
  position: number | null;
}

/** What calls of one person ask. */
export interface Reader {
  db: Db;
  user: { id: number };
  workspace: { id: number };
}

const FROM = sql`task
  join project on project.id = task.project_id
  join instance on instance.id = task.instance_id
  join storage on storage.id = task.storage_id
  left join s3_bucket on s3_bucket.id = storage.bucket_id
  left join task_schedule on task_schedule.id = task.schedule_id
  left join app_user on app_user.id = task.created_by
  left join task_run run on run.task_id = task.id and run.number = task.run_number
  left join container on container.id = run.container_id
  left join daemon_node on daemon_node.instance_id = container.instance_id`;

/** SQL: micro-STAGI of the run `run` so far; nothing once it has ended, when `cost_micro` has it. */
const RUNNING_MICRO = sql<bigint>`coalesce(case when run.ended_at is null and run.started_at is not null
  then (run.price_micro_per_hour * extract(epoch from
    greatest(coalesce(run.finished_at, clock_timestamp()) - run.started_at, interval '0')) / 3600)::bigint end, 0)`;

const VIEW = (userId: number) => sql`task.*, app_user.name as creator,
  json_build_object('id', project.id, 'slug', project.slug, 'title', project.title) as project,
  json_build_object('id', instance.id, 'slug', instance.slug, 'title', instance.title, 'kind', instance.kind,
    'status', instance.status) as instance,
  json_build_object('id', storage.id, 'slug', storage.slug, 'title', storage.title, 'status', storage.status) as storage,
  coalesce(s3_bucket.name, storage.slug) as bucket,
  case when task_schedule.id is not null
    then json_build_object('id', task_schedule.id, 'title', task_schedule.title) end as schedule,
  ${pricePerHour('instance')} as price_per_hour,
  ${RUNNING_MICRO} as running_micro,
  exists (select 1 from task_favorite f where f.task_id = task.id and f.user_id = ${userId}) as favorite,
  coalesce(case
    when container.status in ('unresponsive', 'deleted') then container.status_seen_at
    when container.id is not null then greatest(container.status_seen_at, daemon_node.inventory_at) end,
    task.status_seen_at) as seen_at`;

const SORTABLE: Record<string, string> = {
  createdAt: 'task.created_at',
  status: 'task.status',
  ordinal: 'task.ordinal',
  cost: 'task.cost_micro',
  startedAt: 'task.started_at',
  finishedAt: 'task.finished_at',
  title: 'task.title',
};

export interface TaskFilter {
  projectId?: number | undefined;
  instanceId?: number | undefined;
  scheduleId?: number | undefined;
  favorites: boolean;
}

/** Tasks of deleted projects are not listed. */
export async function listTasks(
  { db, user, workspace }: Reader,
  { projectId, instanceId, scheduleId, favorites }: TaskFilter,
  request: EntityFilterRequest,
): Promise<{ rows: TaskView[]; count: number; isMore: boolean }> {
  const { statuses, queryString } = request;
  const where: RawBuilder<boolean>[] = [
    sql`task.workspace_id = ${workspace.id}`,
    sql`task.project_id not in (select p.id from project p where p.workspace_id = ${workspace.id} and p.closed_at is not null)`,
  ];
  if (projectId !== undefined) where.push(sql`task.project_id = ${projectId}`);
  if (instanceId !== undefined) where.push(sql`task.instance_id = ${instanceId}`);
  if (scheduleId !== undefined) where.push(isId('task.schedule_id', scheduleId));
  if (statuses?.length) where.push(sql`task.status in (${sql.join(statuses)})`);
  if (favorites) where.push(sql`task.id in (select f.task_id from task_favorite f where f.user_id = ${user.id})`);
  if (queryString)
    where.push(contains(['task.title', 'task.slug', 'task.command', 'task.commit_message'], queryString));
  const { ids, count, isMore } = await cappedPage(
    db,
    { from: sql`task`, where, id: sql`task.id`, order: [sql.ref(sortColumn(request, SORTABLE))] },
    request,
  );
  if (ids.length === 0) return { rows: [], count, isMore };
  const { rows } = await sql<TaskView>`select ${VIEW(user.id)} from ${FROM}
    where task.workspace_id = ${workspace.id} and task.id = any(${ids})
    order by array_position(${ids}, task.id)`.execute(db);
  return { rows: await withPositions(db, rows), count, isMore };
}

export async function viewTask({ db, user, workspace }: Reader, ref: Ref): Promise<TaskView> {
  const { rows } = await sql<TaskView>`select ${VIEW(user.id)} from ${FROM}
    where task.workspace_id = ${workspace.id} and ${matches(ref)}`.execute(db);
  const [task] = await withPositions(db, rows);
  if (!task) throw notFound();
  return task;
}

/** The row of a task alone. */
export function findTask(of: Pick<Reader, 'db' | 'workspace'>, ref: Ref): Promise<TaskRow> {
  return rowOf(of, ref, sql``);
}

/** The same, locked until the transaction ends. */
export function lockTask(of: Pick<Reader, 'db' | 'workspace'>, ref: Ref): Promise<TaskRow> {
  return rowOf(of, ref, sql`for no key update`);
}

async function rowOf({ db, workspace }: Pick<Reader, 'db' | 'workspace'>, ref: Ref, lock: RawBuilder<unknown>) {
  const { rows } = await sql<TaskRow>`select * from task
    where workspace_id = ${workspace.id} and ${matches(ref)} ${lock}`.execute(db);
  if (!rows[0]) throw notFound();
  return rows[0];
}

const matches = (ref: Ref): RawBuilder<boolean> =>
  'id' in ref ? isId('task.id', ref.id) : sql<boolean>`task.slug = ${ref.slug}`;

/** Each queue is numbered once, however many of its tasks are shown. */
async function withPositions(db: Db, rows: readonly TaskView[]): Promise<TaskView[]> {
  const waiting = rows.filter(({ status }) => status === 'new' || status === 'in queue');
  if (waiting.length === 0) return rows.map((row) => ({ ...row, position: null }));
  const { rows: numbered } = await sql<{ id: number; position: number }>`select id, position from (
      select t.id, row_number() over (partition by t.instance_id order by t.priority desc, t.id)::int as position
      from task t where t.instance_id = any(${waiting.map((row) => row.instance_id)}::int[]) and ${WAITS_FOR_ROOM}
    ) as queue where id = any(${waiting.map(({ id }) => id)}::int[])`.execute(db);
  const positions = new Map(numbered.map(({ id, position }) => [id, position]));
  return rows.map((row) => ({ ...row, position: positions.get(row.id) ?? null }));
}

export interface RunView extends TaskRunRow {
  running_micro: bigint;
  container: Pick<ContainerRow, 'id' | 'slug' | 'status' | 'progress' | 'task_report'> | null;
}

/** The newest first. */
export async function runsOf(db: Db, taskId: number): Promise<RunView[]> {
  const { rows } = await sql<RunView>`select run.*, ${RUNNING_MICRO} as running_micro,
      case when c.id is not null then json_build_object('id', c.id, 'slug', c.slug, 'status', c.status,
        'progress', c.progress, 'task_report', c.task_report) end as container
    from task_run run left join container c on c.id = run.container_id
    where run.task_id = ${taskId} order by run.number desc`.execute(db);
  return rows;
}

/** The oldest first. */
export async function timelineOf(db: Db, taskId: number): Promise<TaskEvent[]> {
  const rows = await db
    .selectFrom('task_event')
    .leftJoin('app_user', 'app_user.id', 'task_event.actor_id')
    .select(['task_event.at', 'task_event.status', 'task_event.reason', 'task_event.run', 'app_user.name'])
    .where('task_event.task_id', '=', taskId)
    .orderBy('task_event.id')
    .execute();
  return rows.map(({ at, name, ...event }) => ({ ...event, at: at.toISOString(), by: name }));
}
