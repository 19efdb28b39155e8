import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { revokeS3Key } from './keys.ts';

/** Objects, and uploads, that one call of `emptyBucket` removes. */
const EMPTIED_AT_ONCE = 1_000;
/** An object of a multipart upload has up to 10,000. */
const BLOBS_AT_ONCE = 5_000;

export interface NewBucket {
  name: string;
  workspaceId: number;
  /** `local`, or one of S3_LOCATIONS. */
  location: string;
  quotaBytes: bigint;
  /** Only the platform itself writes (log buckets). */
  isPlatforms: boolean;
}

/** Null: the name is taken. */
export async function createBucket(db: Db, bucket: NewBucket): Promise<number | null> {
  const row = await db
    .insertInto('s3_bucket')
    .values({
      name: bucket.name,
      workspace_id: bucket.workspaceId,
      location: bucket.location,
      quota_bytes: bucket.quotaBytes,
      is_platforms: bucket.isPlatforms,
    })
    .onConflict((conflict) => conflict.column('name').where('closed_at', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id ?? null;
}

/** False: it holds more than that, or is closed. */
export async function resizeBucket(db: Db, bucketId: number, quotaBytes: bigint): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('s3_bucket')
    .set({ quota_bytes: quotaBytes })
    .where('id', '=', bucketId)
    .where('closed_at', 'is', null)
    .where('used_bytes', '<=', quotaBytes)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** From now on nothing in it can be read or written, its keys have ended and its name is free. */
export async function closeBucket(db: Db, bucketId: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await trx
      .updateTable('s3_bucket')
      .set({ closed_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', bucketId)
      .where('closed_at', 'is', null)
      .execute();
    await revokeS3Key(trx, { bucketId });
  });
}

/** Removes some of what a closed bucket holds. True when it holds nothing any more; otherwise call it again. */
export async function emptyBucket(ctx: Pick<Context, 'db'>, bucketId: number): Promise<boolean> {
  return inTransaction(ctx.db, async (trx) => {
    const bucket = await trx
      .selectFrom('s3_bucket')
      .select('closed_at')
      .where('id', '=', bucketId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    if (!bucket.closed_at) throw new Error(`bucket ${bucketId} is open: close it before it is emptied`);
    const objects = await sql<Removed>`with gone as (delete from s3_object
        where bucket_id = ${bucketId} and key in (select key from (
          select key, sum(cardinality(blobs)) over (order by key) - cardinality(blobs) as before from (
            select key, blobs from s3_object where bucket_id = ${bucketId} order by key limit ${EMPTIED_AT_ONCE}
          ) as first) as counted where before < ${BLOBS_AT_ONCE})
        returning counted, blobs),
      doomed as (update s3_blob set state = 'doomed' from gone where s3_blob.id = any(gone.blobs))
      select count(*) as count, coalesce(sum(counted), 0)::bigint as bytes from gone`.execute(trx);
    const parts = await sql<Removed>`with gone as (delete from s3_part
        where (upload_id, number) in (select upload_id, number from s3_part
          join s3_upload on s3_upload.id = upload_id where bucket_id = ${bucketId} limit ${BLOBS_AT_ONCE})
        returning counted, blob_id),
      doomed as (update s3_blob set state = 'doomed' from gone where s3_blob.id = gone.blob_id)
      select count(*) as count, coalesce(sum(counted), 0)::bigint as bytes from gone`.execute(trx);
    const uploads = await sql<Removed>`with gone as (delete from s3_upload where id in (select id from s3_upload
        where bucket_id = ${bucketId} and not exists (select from s3_part where upload_id = s3_upload.id)
        limit ${EMPTIED_AT_ONCE})
        returning counted)
      select count(*) as count, coalesce(sum(counted), 0)::bigint as bytes from gone`.execute(trx);
    const bytes = objects.rows[0]!.bytes + parts.rows[0]!.bytes + uploads.rows[0]!.bytes;
    const { rows } = await sql<{ is_empty: boolean }>`update s3_bucket
      set used_bytes = used_bytes - ${bytes}, object_count = object_count - ${objects.rows[0]!.count}
      where id = ${bucketId}
      returning not exists (select from s3_object where bucket_id = s3_bucket.id)
        and not exists (select from s3_upload where bucket_id = s3_bucket.id) as is_empty`.execute(trx);
    return rows[0]!.is_empty;
  });
}

interface Removed {
  count: bigint;
  bytes: bigint;
}

const PROBE = Buffer.from('Whether this location keeps what it is given.');

/** Writes, reads and removes a small blob. Throws what is wrong with the location. */
export async function probeLocation({ blobs }: Pick<Context, 'blobs'>, name: string): Promise<void> {
  const store = blobs.get(name);
  if (!store) throw new Error(`location ${name} is not configured: see S3_LOCATIONS`);
  const blob = `probe/${randomUUID()}`;
  try {
    await store.put(blob, Readable.from([PROBE]));
    if (!(await buffer(await store.get(blob))).equals(PROBE))
      throw new Error(`location ${name} gives back other bytes than it was given`);
  } finally {
    await store.remove(blob);
  }
}
