import type { NewObject, S3Object, WriteCondition } from '@stagi/s3/backend.ts';
import { S3Error } from '@stagi/s3/errors.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { bookUse, changeBucket, type Writer } from './changeBucket.ts';
import { keyBytes } from './rows.ts';

/** What the object of a key is made of. */
export interface StoredContent extends Omit<NewObject, 'blob'> {
  blobs: readonly { id: string; size: number }[];
  /** Bytes that count as used already: the upload and its parts that become this object. */
  countedBytes: bigint;
  uploadId: string | null;
}

/** Makes a written blob the object of a key, in place of an older one. */
export async function commitObject(
  db: Db,
  bucketId: number,
  writer: Writer,
  key: string,
  { blob, ...content }: NewObject,
  condition?: WriteCondition,
): Promise<S3Object> {
  return changeBucket(db, bucketId, writer, async (trx, bucket) => {
    await settleBlob(trx, bucketId, blob);
    return storeObject(
      trx,
      bucket,
      writer,
      key,
      { ...content, blobs: [blob], countedBytes: 0n, uploadId: null },
      condition,
    );
  });
}

/** The blob belongs to something from now on. Fails when it was given up, as the process was taken for dead. */
export async function settleBlob(trx: Db, bucketId: number, blob: { id: string; size: number }): Promise<void> {
  const { numAffectedRows } = await sql`update s3_blob set state = 'stored', size = ${blob.size}, owner = null
    where id = ${blob.id} and bucket_id = ${bucketId} and state = 'writing'`.execute(trx);
  if (numAffectedRows !== 1n) throw new Error(`blob ${blob.id} was given up while it was written`);
}

/** Under the lock of the bucket. */
export async function storeObject(
  trx: Db,
  bucket: { id: number; location: string },
  writer: Writer,
  key: string,
  content: StoredContent,
  condition: WriteCondition | undefined,
): Promise<S3Object> {
  const old = await findOld(trx, bucket.id, key);
  requireCondition(old, condition);
  const size = content.blobs.reduce((sum, blob) => sum + BigInt(blob.size), 0n);
  const counted = sql<bigint>`(select counted from stored) - ${(old?.counted ?? 0n) + content.countedBytes}::bigint`;
  const checksum = content.checksum && JSON.stringify(content.checksum);
  const { rows } = await sql<{ modified_at: Date | null; fits: boolean }>`with
    doomed as (update s3_blob set state = 'doomed' where id = any(${old?.blobs ?? []}::uuid[])),
    stored as (
      insert into s3_object as object
        (bucket_id, key, size, etag, checksum, headers, metadata, tags, modified_at, blobs, blob_sizes, upload_id)
      values (${bucket.id}, ${keyBytes(key)}, ${size}, ${content.etag}, ${checksum}::jsonb,
        ${JSON.stringify(content.headers)}::jsonb, ${JSON.stringify(content.metadata)}::jsonb,
        ${JSON.stringify(content.tags)}::json, date_trunc('milliseconds', clock_timestamp()),
        ${content.blobs.map(({ id }) => id)}::uuid[], ${content.blobs.map((blob) => blob.size)}::bigint[],
        ${content.uploadId}::uuid)
      on conflict (bucket_id, key) do update set (size, etag, checksum, headers, metadata, tags, modified_at, blobs,
        blob_sizes, upload_id) = (excluded.size, excluded.etag, excluded.checksum, excluded.headers, excluded.metadata,
        excluded.tags, excluded.modified_at, excluded.blobs, excluded.blob_sizes, excluded.upload_id)
      returning modified_at, counted),
    used as (${bookUse(bucket.id, counted, old ? 0 : 1, writer)})
    select (select modified_at from stored), exists (select from used) as fits`.execute(trx);
  if (!rows[0]!.fits) throw new S3Error('QuotaExceeded');
  return {
    bucketId: bucket.id,
    key,
    size: Number(size),
    etag: content.etag,
    checksum: content.checksum,
    headers: content.headers,
    metadata: content.metadata,
    tags: content.tags,
    modifiedAt: rows[0]!.modified_at!,
    blobs: content.blobs.map((blob) => ({ ...blob, location: bucket.location })),
    isMultipart: content.uploadId !== null,
  };
}

async function findOld(trx: Db, bucketId: number, key: string) {
  return trx
    .selectFrom('s3_object')
    .select(['counted', 'etag', 'blobs'])
    .where('bucket_id', '=', bucketId)
    .where('key', '=', keyBytes(key))
    .executeTakeFirst();
}

/** Asked under the lock of the bucket, so that of two writers with `If-None-Match: *` one is refused. */
export function requireCondition(object: { etag: string } | undefined, condition: WriteCondition | undefined): void {
  if (condition?.ifNoneMatch === '*' && object) throw new S3Error('PreconditionFailed');
  if (condition?.ifMatch === undefined) return;
  if (!object) throw new S3Error('NoSuchKey');
  if (condition.ifMatch !== '*' && condition.ifMatch !== object.etag) throw new S3Error('PreconditionFailed');
}
