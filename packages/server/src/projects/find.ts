import type { EntityFilterRequest, Ref } from '@stagi/contract/page.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Db, ProjectImportRow, ProjectRow } from '../db/schema.ts';
import { cappedPage } from '../http/cappedPage.ts';
import { notFound } from '../http/errors.ts';
import { contains, isId, sortColumn } from '../http/paging.ts';

/** A project with its last import, and how many things belong to it. */
export interface ProjectView extends ProjectRow {
  /** Null when the account was deleted. */
  creator: string | null;
  instance_count: number;
  container_count: number;
  /** As JSON: times are texts. */
  import: ImportView | null;
}

export type ImportView = Pick<ProjectImportRow, 'url' | 'status' | 'phase' | 'fraction' | 'error'> & {
  received_bytes: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  deadline: string | null;
};

const FROM = sql`project left join app_user on app_user.id = project.created_by`;

const VIEW = sql`project.*, app_user.name as creator,
  (select count(*)::int from project_instance a join instance i on i.id = a.instance_id
    where a.project_id = project.id and i.closed_at is null) as instance_count,
  (select count(*)::int from container c where c.project_id = project.id and c.deleted_at is null) as container_count,
  (select json_build_object('url', m.url, 'status', m.status, 'phase', m.phase, 'fraction', m.fraction,
      'error', m.error, 'received_bytes', m.received_bytes, 'created_at', m.created_at, 'started_at', m.started_at,
      'finished_at', m.finished_at, 'deadline', m.deadline)
    from project_import m where m.project_id = project.id order by m.id desc limit 1) as import`;

const SORTABLE: Record<string, string> = {
  createdAt: 'project.created_at',
  title: 'project.title',
  slug: 'project.slug',
  status: 'project.status',
  sizeBytes: 'project.size_bytes',
  lastPushAt: 'project.last_push_at',
};

/** Deleted projects are listed only when their status is filtered for. */
export async function listProjects(
  db: Db,
  workspaceId: number,
  request: EntityFilterRequest,
): Promise<{ rows: ProjectView[]; count: number; isMore: boolean }> {
  const { statuses, queryString } = request;
  const where: RawBuilder<boolean>[] = [
    sql`project.workspace_id = ${workspaceId}`,
    statuses?.length ? sql`project.status in (${sql.join(statuses)})` : sql`project.closed_at is null`,
  ];
  if (queryString) where.push(contains(['project.title', 'project.slug', 'project.description'], queryString));
  const column = sortColumn(request, SORTABLE);
  const { ids, count, isMore } = await cappedPage(
    db,
    { from: sql`project`, where, id: sql`project.id`, order: [sql.ref(column)] },
    request,
  );
  if (ids.length === 0) return { rows: [], count, isMore };
  const { rows } = await sql<ProjectView>`select ${VIEW} from ${FROM} where project.id = any(${ids})
    order by array_position(${ids}, project.id)`.execute(db);
  return { rows, count, isMore };
}

/** By id also a deleted one; a slug means the open project, or else the last deleted one. */
export async function viewProject(db: Db, workspaceId: number, ref: Ref): Promise<ProjectView> {
  const { rows } = await sql<ProjectView>`select ${VIEW} from ${FROM}
    where project.workspace_id = ${workspaceId} and ${matches(ref)}
    order by project.closed_at desc nulls first limit 1`.execute(db);
  if (!rows[0]) throw notFound();
  return rows[0];
}

/** The same, with its row locked until the transaction ends. */
export async function lockProject(trx: Db, workspaceId: number, ref: Ref): Promise<ProjectView> {
  const { rows } = await sql<{ id: number }>`select id from project
    where workspace_id = ${workspaceId} and ${matches(ref)}
    order by closed_at desc nulls first limit 1 for no key update`.execute(trx);
  if (!rows[0]) throw notFound();
  return viewProject(trx, workspaceId, { id: rows[0].id });
}

const matches = (ref: Ref): RawBuilder<boolean> =>
  'id' in ref ? isId('project.id', ref.id) : sql<boolean>`project.slug = ${ref.slug}`;
