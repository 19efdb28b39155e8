import type { MachineFacts } from '@stagi/contract/instances.ts';
import type { EntityFilterRequest, Ref } from '@stagi/contract/page.ts';
import { sql } from 'kysely';
import type { InstanceTable } from '../db/computeTables.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import { requireVersion, versionOf } from '../http/editVersion.ts';
import { notFound } from '../http/errors.ts';
import { contains, isId, offsetOf, sortColumn } from '../http/paging.ts';

/** An instance with its daemon's last report and what is allocated to its containers. */
export interface InstanceView extends InstanceRow {
  /** Null for an adopted machine. */
  creator: string | null;
  node_seen_at: Date | null;
  node_version: string | null;
  node_address: string | null;
  facts: MachineFacts | null;
  node_features: string[] | null;
  container_count: number;
  /** Its log bucket; null when it has none any more, or never had one. */
  log_storage_id: number | null;
  log_size_gb: number | null;
  log_used_bytes: bigint | null;
  promised_cpus: string | null;
}

type Kind = InstanceTable['kind'];

const SORTABLE: Record<string, `instance.${keyof InstanceRow}`> = {
  createdAt: 'instance.created_at',
  title: 'instance.title',
  slug: 'instance.slug',
  status: 'instance.status',
  statusSince: 'instance.status_since',
  provider: 'instance.provider',
  pricePerHour: 'instance.price_per_hour',
  ip: 'instance.ip',
};

function viewsOf(db: Db, workspaceId: number, kind: Kind) {
  return db
    .selectFrom('instance')
    .leftJoin('app_user', 'app_user.id', 'instance.created_by')
    .leftJoin('daemon_node', 'daemon_node.instance_id', 'instance.id')
    .leftJoin('storage', (join) =>
      join.onRef('storage.instance_id', '=', 'instance.id').on('storage.closed_at', 'is', null),
    )
    .leftJoin('s3_bucket', 's3_bucket.id', 'storage.bucket_id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('container')
          .select([
            sql<number>`count(*)::int`.as('container_count'),
            sql<string | null>`sum(cpus) filter (where status <> 'creation failed')`.as('promised_cpus'),
          ])
          .whereRef('container.instance_id', '=', 'instance.id')
          .where('container.deleted_at', 'is', null)
          .as('promised'),
      (join) => join.onTrue(),
    )
    .selectAll('instance')
    .select([
      'app_user.name as creator',
      'daemon_node.last_seen_at as node_seen_at',
      'daemon_node.version as node_version',
      'daemon_node.remote_address as node_address',
      'daemon_node.facts',
      'daemon_node.features as node_features',
      'storage.id as log_storage_id',
      'storage.size_gb as log_size_gb',
      's3_bucket.used_bytes as log_used_bytes',
      'promised.container_count',
      'promised.promised_cpus',
    ])
    .where('instance.workspace_id', '=', workspaceId)
    .where('instance.kind', '=', kind)
    .$castTo<InstanceView>();
}

export async function viewInstance(db: Db, workspaceId: number, kind: Kind, ref: Ref): Promise<InstanceView> {
  const row = await viewsOf(db, workspaceId, kind)
    .where(matchesRef(ref))
    .orderBy(newestOfSlug)
    .limit(1)
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

/** An instance of the workspace, locked until the transaction ends. */
export async function lockInstance(trx: Db, workspaceId: number, kind: Kind, ref: Ref): Promise<InstanceRow> {
  const row = await trx
    .selectFrom('instance')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', kind)
    .where(matchesRef(ref))
    .orderBy(newestOfSlug)
    .limit(1)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

/** Closed instances are listed only when their status is filtered for. */
export async function listInstances(
  db: Db,
  workspaceId: number,
  kind: Kind,
  request: EntityFilterRequest,
): Promise<{ rows: InstanceView[]; count: number }> {
  const { statuses, queryString } = request;
  const filter = sql<boolean>`${statuses?.length ? sql`instance.status in (${sql.join(statuses)})` : sql`instance.closed_at is null`}
    and ${queryString ? contains(['instance.title', 'instance.slug', ADDRESS[kind]], queryString) : sql`true`}`;
  const [rows, { count }] = await Promise.all([
    viewsOf(db, workspaceId, kind)
      .where(filter)
      .orderBy(sortColumn(request, SORTABLE), request.orderByDirection)
      .orderBy('instance.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    db
      .selectFrom('instance')
      .$if(kind === 'self-hosted', (query) =>
        query.leftJoin('daemon_node', 'daemon_node.instance_id', 'instance.id').$castTo<object>(),
      )
      .select(sql<number>`count(*)::int`.as('count'))
      .where('instance.workspace_id', '=', workspaceId)
      .where('instance.kind', '=', kind)
      .where(filter)
      .executeTakeFirstOrThrow(),
  ]);
  return { rows, count };
}

/** A rented machine has the address its provider gave it, a self-hosted one that its daemon connects from. */
const ADDRESS: Record<Kind, string> = { rented: 'instance.ip', 'self-hosted': 'daemon_node.remote_address' };

function matchesRef(ref: Ref) {
  return 'id' in ref ? isId('instance.id', ref.id) : sql<boolean>`instance.slug = ${ref.slug}`;
}

/** A slug can be reused once its instance is closed: it means the open instance, or else the last closed one. */
const newestOfSlug = sql`instance.closed_at desc nulls first`;

export async function requireInstance(db: Db, workspaceId: number, kind: Kind, ref: Ref): Promise<{ id: number }> {
  const row = await db
    .selectFrom('instance')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', kind)
    .where(matchesRef(ref))
    .orderBy(newestOfSlug)
    .limit(1)
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

/** The version of what an edit changes. */
export const instanceVersion = ({ title }: { title: string }): string => versionOf({ title });

/** In a transaction of the caller. */
export async function renameInstance(
  trx: Db,
  workspaceId: number,
  kind: Kind,
  { id, title, version }: { id: number; title: string; version?: string | undefined },
): Promise<void> {
  const row = await trx
    .selectFrom('instance')
    .select(['id', 'title'])
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', kind)
    .where(isId('instance.id', id))
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  requireVersion(version, instanceVersion(row));
  await trx.updateTable('instance').set({ title }).where('id', '=', row.id).execute();
}
