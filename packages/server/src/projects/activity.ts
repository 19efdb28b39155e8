import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { ProjectActivity } from '@stagi/contract/projects.ts';
import { sql } from 'kysely';
import type { ProjectActivityDetail, ProjectActivityTable } from '../db/projectTables.ts';
import type { Db } from '../db/schema.ts';
import { contains, offsetOf, pageOf, sortColumn } from '../http/paging.ts';

interface NewActivity {
  kind: ProjectActivityTable['kind'];
  /** Null: the platform. */
  actorId: number | null;
  instanceId?: number;
  detail?: ProjectActivityDetail;
}

/** Adds to the history of a project, in the transaction of the change itself. */
export async function recordProjectActivity(
  trx: Db,
  projectId: number,
  { kind, actorId, instanceId, detail }: NewActivity,
): Promise<void> {
  await trx
    .insertInto('project_activity')
    .values({
      project_id: projectId,
      kind,
      actor_id: actorId,
      instance_id: instanceId ?? null,
      detail: JSON.stringify(detail ?? {}),
    })
    .execute();
}

const SEARCHED = [
  'project_activity.kind',
  'app_user.name',
  'instance.title',
  'instance.slug',
  sql<string>`project_activity.detail::text`,
];

/** The history of one project, whose ownership the caller has checked. `statuses` of the filter are kinds. */
export async function listProjectActivity(db: Db, projectId: number, request: EntityFilterRequest) {
  sortColumn(request, { createdAt: 'id', at: 'id' });
  let all = db
    .selectFrom('project_activity')
    .leftJoin('app_user', 'app_user.id', 'project_activity.actor_id')
    .leftJoin('instance', 'instance.id', 'project_activity.instance_id')
    .where('project_id', '=', projectId);
  if (request.statuses?.length) all = all.where(sql<boolean>`project_activity.kind = any(${request.statuses})`);
  if (request.queryString) all = all.where(contains(SEARCHED, request.queryString));
  const [rows, { count }] = await Promise.all([
    all
      .select([
        'project_activity.id',
        'project_activity.at',
        'project_activity.kind',
        'project_activity.detail',
        'app_user.name as actor',
        'instance.id as instance_id',
        'instance.kind as instance_kind',
        'instance.slug as instance_slug',
        'instance.title as instance_title',
        'instance.closed_at as instance_closed_at',
      ])
      .orderBy('project_activity.at', request.orderByDirection)
      .orderBy('project_activity.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    all.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  const entities = rows.map(
    (row): ProjectActivity => ({
      id: Number(row.id),
      at: row.at.toISOString(),
      kind: row.kind,
      by: row.actor,
      via: row.detail.via ?? null,
      refs: row.detail.refs ?? [],
      refCount: row.detail.refCount ?? 0,
      instance:
        row.instance_id === null
          ? null
          : {
              id: row.instance_id,
              kind: row.instance_kind!,
              slug: row.instance_slug!,
              title: row.instance_title!,
              isClosed: row.instance_closed_at !== null,
            },
      url: row.detail.url ?? null,
      error: row.detail.error ?? null,
    }),
  );
  return pageOf(entities, count, request);
}
