import { LOG_BUCKET_GB } from '@stagi/contract/instances.ts';
import { GB, LOG_BUCKET_KEPT_DAYS } from '@stagi/contract/storageRules.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { transitionStorage } from '../storages/status.ts';
import { removeOldest } from './removeOldest.ts';

/**
 * Ends the buckets whose time has come: 30 days after their server, at once when the server never ran or its workspace is
 * deleted. Until then the ended servers of a workspace share the size of one bucket.
 */
export async function keepLogBuckets(ctx: Context, shared = LOG_BUCKET_GB * GB): Promise<void> {
  for (const id of await pastKeeping(ctx)) await endLogBucket(ctx, id);
  for (const { storageIds, bytes } of await overShare(ctx, shared)) {
    await removeOldest(ctx, storageIds, bytes - BigInt(shared));
  }
  await forgetDeleted(ctx);
}

const BATCH = 100;

async function pastKeeping({ db }: Context): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select storage.id from storage
    join instance on instance.id = storage.instance_id
    join workspace on workspace.id = storage.workspace_id
    where storage.kind = 'log' and storage.closed_at is null and storage.status not in ('terminating', 'deleted') and (
      workspace.deleted_at is not null
      or instance.closed_at < now() - make_interval(days => ${LOG_BUCKET_KEPT_DAYS})
      or (instance.closed_at is not null or instance.status = 'creation failed') and ${HAS_NEVER_RUN})
    order by storage.id limit ${BATCH}`.execute(db);
  return rows.map(({ id }) => id);
}

async function endLogBucket(ctx: Context, id: number): Promise<void> {
  await inTransaction(ctx.db, (trx) => transitionStorage(ctx, trx, id, 'terminating', {}));
}

/** Also no container: a log may come before the server was online for the first time. */
const HAS_NEVER_RUN = sql`
  not exists (select from instance_activity activity where activity.instance_id = instance.id and activity.to_status = 'online')
  and not exists (select from log_copy copy where copy.storage_id = storage.id)`;

/** Workspaces whose ended servers hold more than they may. */
async function overShare({ db }: Context, shared: number): Promise<{ storageIds: number[]; bytes: bigint }[]> {
  const { rows } = await sql<{ storageIds: number[]; bytes: bigint }>`
    select array_agg(storage.id) as "storageIds", sum(bucket.used_bytes)::bigint as bytes
    from storage
    join instance on instance.id = storage.instance_id and instance.closed_at is not null
    join s3_bucket bucket on bucket.id = storage.bucket_id
    where storage.kind = 'log' and storage.closed_at is null and storage.status not in ('terminating', 'deleted')
    group by storage.workspace_id having sum(bucket.used_bytes) > ${shared}`.execute(db);
  return rows;
}

/** How the logs of a bucket that is no more were copied. */
async function forgetDeleted({ db }: Context): Promise<void> {
  const deleted = sql`(select id from storage where kind = 'log' and closed_at is not null)`;
  await sql`delete from log_chunk where id in (
    select id from log_chunk where storage_id in ${deleted} order by id limit 10000)`.execute(db);
  await sql`delete from log_copy where storage_id in ${deleted} and finished_at is not null`.execute(db);
}
