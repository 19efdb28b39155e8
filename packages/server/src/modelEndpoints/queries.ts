import type { MachineFacts } from '@stagi/contract/instances.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { type Selectable, sql } from 'kysely';
import type { visibleKinds } from '../containers/access.ts';
import type { ModelEndpointTable } from '../db/catalogueTables.ts';
import type { ContainerRow, Db } from '../db/schema.ts';
import { contains, offsetOf, sortColumn } from '../http/paging.ts';

type Row = Selectable<ModelEndpointTable>;

type ServerKinds = ReturnType<typeof visibleKinds>;

/** An endpoint with what its screens show of its server and its container. */
export interface EndpointView extends Row {
  creator: string | null;
  server_kind: 'rented' | 'self-hosted';
  server_slug: string;
  server_title: string;
  server_status: string;
  server_reason: string | null;
  facts: MachineFacts | null;
  container:
    | (Pick<ContainerRow, 'slug' | 'title' | 'status' | 'ports' | 'progress' | 'status_reason'> &
        Pick<ContainerRow, 'restarts' | 'last_exit_code'> & {
          id: number;
          status_since: string;
          started_at: string | null;
          failed_cause: string | null;
          last_ended_at: string | null;
          next_try_at: string | null;
          looping_until: string | null;
        })
    | null;
}

const SORTABLE: Record<string, string> = {
  createdAt: 'e.id',
  title: 'e.title',
  model: 'e.model_title',
};

/** Those of one workspace on servers of the kinds that the caller may see; not those whose container was deleted. */
function viewsOf(db: Db, workspaceId: number, kinds: ServerKinds) {
  return db
    .selectFrom('model_endpoint as e')
    .innerJoin('instance as i', 'i.id', 'e.instance_id')
    .leftJoin('app_user as u', 'u.id', 'e.created_by')
    .leftJoin('daemon_node as n', 'n.instance_id', 'e.instance_id')
    .leftJoin('container as c', 'c.id', 'e.container_id')
    .selectAll('e')
    .select([
      'u.name as creator',
      'i.kind as server_kind',
      'i.slug as server_slug',
      'i.title as server_title',
      'i.status as server_status',
      'i.status_reason as server_reason',
      'n.facts',
      sql<EndpointView['container']>`case when c.id is null then null else json_build_object('id', c.id, 'slug', c.slug,
        'title', c.title, 'status', c.status, 'ports', c.ports, 'progress', c.progress,
        'status_reason', c.status_reason, 'status_since', c.status_since, 'started_at', c.started_at,
        'failed_cause', c.failed_step->>'cause', 'restarts', c.restarts, 'last_exit_code', c.last_exit_code,
        'last_ended_at', c.last_ended_at, 'next_try_at', c.next_try_at, 'looping_until', c.looping_until) end`.as(
        'container',
      ),
    ])
    .where('e.workspace_id', '=', workspaceId)
    .where('e.deleted_at', 'is', null)
    .where('c.deleted_at', 'is', null)
    .where(kinds.length > 0 ? sql<boolean>`i.kind in (${sql.join(kinds)})` : sql<boolean>`false`)
    .$castTo<EndpointView>();
}

export function findEndpoint(db: Db, workspaceId: number, kinds: ServerKinds, id: number) {
  return viewsOf(db, workspaceId, kinds).where(sql<boolean>`e.id = ${id}::bigint`).executeTakeFirst();
}

export async function listEndpoints(
  db: Db,
  workspaceId: number,
  kinds: ServerKinds,
  modelId: string | undefined,
  request: EntityFilterRequest,
): Promise<{ rows: EndpointView[]; count: number }> {
  let all = viewsOf(db, workspaceId, kinds);
  if (modelId !== undefined) all = all.where('e.model_id', '=', modelId);
  if (request.queryString)
    all = all.where(contains(['e.title', 'e.model_title', 'e.model_id', 'i.title'], request.queryString));
  const [rows, { count }] = await Promise.all([
    all
      .orderBy(sql.ref(sortColumn(request, SORTABLE)), request.orderByDirection)
      .orderBy('e.id', request.orderByDirection)
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
