import type { EntityFilterRequest, Ref } from '@stagi/contract/page.ts';
import { LOG_BUCKET_KEPT_DAYS, type StorageKind } from '@stagi/contract/storageRules.ts';
import { type RawBuilder, sql } from 'kysely';
import { KEPT_DAYS } from '../billing/zero.ts';
import type { Db, StorageRow } from '../db/schema.ts';
import { cappedPage } from '../http/cappedPage.ts';
import { notFound } from '../http/errors.ts';
import { contains, isId, sortColumn } from '../http/paging.ts';

/** A storage with what its bucket holds, and its server if it is a log bucket. */
export interface StorageView extends StorageRow {
  /** Null for a log bucket, and when the account was deleted. */
  creator: string | null;
  bucket: string | null;
  used_bytes: bigint;
  object_count: bigint;
  read_only: boolean;
  deleted_at: Date | null;
  /** Unfinished tasks that use it. */
  task_count: number;
  instance: { id: number; slug: string; title: string; isClosed: boolean } | null;
}

const FROM = sql`storage
  join workspace on workspace.id = storage.workspace_id
  left join s3_bucket on s3_bucket.id = storage.bucket_id
  left join instance on instance.id = storage.instance_id
  left join app_user on app_user.id = storage.created_by`;

/** When its data is deleted: it is kept for so long without a balance, or after the server of a log bucket ended. */
const DELETED_AT = sql`case
    when storage.closed_at is not null or storage.desired = 'gone' then null
    when storage.kind = 'log' then instance.closed_at + make_interval(days => ${LOG_BUCKET_KEPT_DAYS})
    else workspace.exhausted_at + make_interval(days => ${KEPT_DAYS}) end`;

const VIEW = sql`storage.*, app_user.name as creator, s3_bucket.name as bucket,
  coalesce(s3_bucket.used_bytes, 0) as used_bytes, coalesce(s3_bucket.object_count, 0) as object_count,
  (storage.kind = 'storage' and workspace.exhausted_at is not null) as read_only, ${DELETED_AT} as deleted_at,
  (select count(*)::int from task where task.storage_id = storage.id
    and task.status in ('new', 'scheduled', 'in queue', 'running', 'canceling')) as task_count,
  case when instance.id is not null then json_build_object('id', instance.id, 'slug', instance.slug,
    'title', instance.title, 'isClosed', instance.closed_at is not null) end as instance`;

const SORTABLE: Record<string, string> = {
  createdAt: 'storage.created_at',
  title: 'storage.title',
  slug: 'storage.slug',
  status: 'storage.status',
  sizeGb: 'storage.size_gb',
  usedBytes: 's3_bucket.used_bytes',
  location: 'storage.location',
  pricePerMonth: 'storage.price_per_month',
};

/** Deleted storages are listed only when their status is filtered for. */
export async function listStorages(
  db: Db,
  workspaceId: number,
  request: EntityFilterRequest,
  kind?: StorageKind,
): Promise<{ rows: StorageView[]; count: number; isMore: boolean }> {
  const { statuses, queryString } = request;
  const where: RawBuilder<boolean>[] = [
    sql`storage.workspace_id = ${workspaceId}`,
    statuses?.length ? sql`storage.status in (${sql.join(statuses)})` : sql`storage.closed_at is null`,
  ];
  if (kind) where.push(sql`storage.kind = ${kind}`);
  if (queryString) where.push(contains(['storage.title', 'storage.slug'], queryString));
  const column = sortColumn(request, SORTABLE);
  const { ids, count, isMore } = await cappedPage(
    db,
    { from: FROM, where, id: sql`storage.id`, order: [sql.ref(column)] },
    request,
  );
  if (ids.length === 0) return { rows: [], count, isMore };
  const { rows } = await sql<StorageView>`select ${VIEW} from ${FROM} where storage.id = any(${ids})
    order by array_position(${ids}, storage.id)`.execute(db);
  return { rows, count, isMore };
}

export async function viewStorage(db: Db, workspaceId: number, ref: Ref): Promise<StorageView> {
  const { rows } = await sql<StorageView>`select ${VIEW} from ${FROM}
    where storage.workspace_id = ${workspaceId} and ${matches(ref)}
    order by storage.closed_at desc nulls first limit 1`.execute(db);
  if (!rows[0]) throw notFound();
  return rows[0];
}

/** The same, with its row locked until the transaction ends. */
export async function lockStorage(trx: Db, workspaceId: number, id: number): Promise<StorageView> {
  const locked = await trx
    .selectFrom('storage')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where(isId('id', id))
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!locked) throw notFound();
  return viewStorage(trx, workspaceId, { id });
}

/** A slug can be used again once its storage is deleted: it means the open one, or else the last deleted one. */
const matches = (ref: Ref): RawBuilder<boolean> =>
  'id' in ref ? isId('storage.id', ref.id) : sql<boolean>`storage.slug = ${ref.slug}`;
