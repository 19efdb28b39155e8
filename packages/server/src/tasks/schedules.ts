import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { TaskSchedule } from '@stagi/contract/taskSchedules.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db, TaskScheduleRow } from '../db/schema.ts';
import { versionOf } from '../http/editVersion.ts';
import { notFound } from '../http/errors.ts';
import { contains, isId, offsetOf, sortColumn } from '../http/paging.ts';

/** A schedule with what its screens show of other things. */
export interface ScheduleView extends TaskScheduleRow {
  creator: string | null;
  project: TaskSchedule['project'];
  instance: TaskSchedule['instance'];
  last_task: TaskSchedule['lastTask'];
}

export type ScheduleInput<Name extends keyof typeof api.tasks> = ParsedInputOf<(typeof api.tasks)[Name]>;

const FROM = sql`task_schedule s
  join project p on p.id = s.project_id
  join instance i on i.id = s.instance_id
  left join app_user u on u.id = s.created_by
  left join task t on t.id = s.last_task_id`;

const VIEW = sql`s.*, u.name as creator,
  json_build_object('id', p.id, 'slug', p.slug, 'title', p.title) as project,
  json_build_object('id', i.id, 'slug', i.slug, 'title', i.title) as instance,
  case when t.id is not null
    then json_build_object('id', t.id, 'ordinal', t.ordinal, 'status', t.status) end as last_task`;

const SORTABLE: Record<string, string> = {
  createdAt: 's.created_at',
  title: 's.title',
  nextAt: 's.next_at',
  lastAt: 's.last_at',
};

export async function listSchedules(
  db: Db,
  workspaceId: number,
  projectId: number | undefined,
  request: EntityFilterRequest,
): Promise<{ rows: ScheduleView[]; count: number }> {
  const conditions: RawBuilder<boolean>[] = [sql`s.workspace_id = ${workspaceId}`, sql`s.deleted_at is null`];
  if (projectId !== undefined) conditions.push(sql`s.project_id = ${projectId}`);
  if (request.queryString) conditions.push(contains(['s.title', 's.cron'], request.queryString));
  const where = sql.join(conditions, sql` and `);
  const direction = sql.raw(request.orderByDirection);
  const [{ rows }, counted] = await Promise.all([
    sql<ScheduleView>`select ${VIEW} from ${FROM} where ${where}
      order by ${sql.ref(sortColumn(request, SORTABLE))} ${direction} nulls last, s.id ${direction}
      limit ${request.limit} offset ${offsetOf(request)}`.execute(db),
    sql<{ count: number }>`select count(*)::int as count from task_schedule s where ${where}`.execute(db),
  ]);
  return { rows, count: counted.rows[0]!.count };
}

export async function viewSchedule(db: Db, workspaceId: number, id: number): Promise<ScheduleView> {
  const { rows } = await sql<ScheduleView>`select ${VIEW} from ${FROM}
    where s.workspace_id = ${workspaceId} and s.deleted_at is null and ${isId('s.id', id)}`.execute(db);
  if (!rows[0]) throw notFound();
  return rows[0];
}

/** The row of a schedule, locked until the transaction ends. */
export async function lockSchedule(trx: Db, workspaceId: number, id: number): Promise<TaskScheduleRow> {
  const row = await trx
    .selectFrom('task_schedule')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .where(isId('task_schedule.id', id))
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

export function presentSchedule(row: ScheduleView): TaskSchedule {
  return {
    id: row.id,
    title: row.title,
    project: row.project,
    cron: row.cron,
    timeZone: row.time_zone,
    isPaused: row.paused_at !== null,
    pausedReason: row.paused_reason,
    nextAt: iso(row.paused_at ? null : row.next_at),
    lastAt: iso(row.last_at),
    lastResult: row.last_result,
    lastReason: row.last_reason,
    lastTask: row.last_task,
    createdAt: row.created_at.toISOString(),
    createdBy: row.creator,
    task: fieldsOf(row),
    instance: row.instance,
    version: scheduleVersion(row),
  };
}

/** The version of what its form changes. A sealed text is another at each writing, though it holds the same. */
export const scheduleVersion = (row: TaskScheduleRow): string =>
  versionOf({ title: row.title, cron: row.cron, timeZone: row.time_zone, fields: fieldsOf(row), env: row.env_sealed });

/** What each task of a schedule runs. Columns are true where a field is also one. */
export const fieldsOf = (row: TaskScheduleRow): TaskSchedule['task'] => ({
  ...row.fields,
  projectId: row.project_id,
  instanceId: row.instance_id,
  storageId: row.storage_id,
  envNames: row.env_names,
});

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;
