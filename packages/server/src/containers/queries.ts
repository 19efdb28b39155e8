import type { Container } from '@stagi/contract/containers.ts';
import type { EntityFilterRequest, Ref } from '@stagi/contract/page.ts';
import { sql } from 'kysely';
import type { InstanceTable } from '../db/computeTables.ts';
import type { ContainerRow, Db } from '../db/schema.ts';
import { contains, offsetOf, sortColumn } from '../http/paging.ts';

/** A container with what its screens show of its server. */
export interface ContainerView extends ContainerRow {
  creator: string;
  server_kind: InstanceTable['kind'];
  server_slug: string;
  server_title: string;
  server_status: string;
  server_ip: string | null;
  project: { id: number; slug: string; title: string } | null;
  task: Container['task'];
  node_address: string | null;
  node_features: string[] | null;
  inventory_at: Date | null;
}

export type ServerKinds = readonly InstanceTable['kind'][];

const SORTABLE: Record<string, string> = {
  createdAt: 'container.created_at',
  title: 'container.title',
  slug: 'container.slug',
  status: 'container.status',
  statusSince: 'container.status_since',
  dockerImage: 'container.image',
  cpus: 'container.cpus',
  memoryGb: 'container.memory_gb',
  instance: 'instance.title',
};

/** Containers of one workspace on servers of the kinds that the caller may see. */
function viewsOf(db: Db, workspaceId: number, kinds: ServerKinds) {
  return db
    .selectFrom('container')
    .innerJoin('instance', 'instance.id', 'container.instance_id')
    .innerJoin('app_user', 'app_user.id', 'container.created_by')
    .leftJoin('daemon_node', 'daemon_node.instance_id', 'container.instance_id')
    .selectAll('container')
    .select([
      'app_user.name as creator',
      'instance.kind as server_kind',
      'instance.slug as server_slug',
      'instance.title as server_title',
      'instance.status as server_status',
      'instance.ip as server_ip',
      'daemon_node.remote_address as node_address',
      'daemon_node.features as node_features',
      'daemon_node.inventory_at',
      sql<ContainerView['project']>`(select json_build_object('id', p.id, 'slug', p.slug, 'title', p.title)
        from project p where p.id = container.project_id)`.as('project'),
      sql<ContainerView['task']>`(select json_build_object('id', t.id, 'ordinal', t.ordinal, 'title', t.title,
          'run', r.number)
        from task_run r join task t on t.id = r.task_id where r.id = container.task_run_id)`.as('task'),
    ])
    .where('container.workspace_id', '=', workspaceId)
    .where('instance.workspace_id', '=', workspaceId)
    .where(kinds.length > 0 ? sql<boolean>`instance.kind in (${sql.join(kinds)})` : sql<boolean>`false`)
    .$castTo<ContainerView>();
}

/** By id also finds deleted containers, whose logs can still be read; by slug only the current one. */
export function findView(
  db: Db,
  workspaceId: number,
  kinds: ServerKinds,
  ref: Ref,
): Promise<ContainerView | undefined> {
  const all = viewsOf(db, workspaceId, kinds);
  if ('id' in ref) return all.where(sql<boolean>`container.id = ${ref.id}::bigint`).executeTakeFirst();
  return all.where('container.slug', '=', ref.slug).where('container.deleted_at', 'is', null).executeTakeFirst();
}

export function viewsByIds(db: Db, workspaceId: number, ids: readonly number[]): Promise<ContainerView[]> {
  return viewsOf(db, workspaceId, ['rented', 'self-hosted'])
    .where('container.id', 'in', [...ids])
    .orderBy('container.id')
    .execute();
}

/** Deleted containers are listed only when their status is filtered for. */
export async function listContainers(
  db: Db,
  workspaceId: number,
  kinds: ServerKinds,
  { instanceId, projectId }: { instanceId?: number | undefined; projectId?: number | undefined },
  request: EntityFilterRequest,
): Promise<{ rows: ContainerView[]; count: number }> {
  const { statuses, queryString } = request;
  let all = viewsOf(db, workspaceId, kinds);
  all = statuses?.length
    ? all.where(sql<boolean>`container.status in (${sql.join(statuses)})`)
    : all.where('container.deleted_at', 'is', null);
  if (instanceId !== undefined) all = all.where('container.instance_id', '=', instanceId);
  if (projectId !== undefined) all = all.where('container.project_id', '=', projectId);
  if (queryString) {
    all = all.where(contains(['container.title', 'container.slug', 'container.image', 'instance.title'], queryString));
  }
  const [rows, { count }] = await Promise.all([
    all
      .orderBy(sql.ref(sortColumn(request, SORTABLE)), request.orderByDirection)
      .orderBy('container.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    all
      .clearSelect()
      .select(sql<number>`count(*)::int`.as('count'))
      .$castTo<{ count: number }>()
      .executeTakeFirstOrThrow(),
  ]);
  return { rows, count };
}
