import { randomBytes } from 'node:crypto';
import type { NewObject, NewPart, NewUpload, S3Object, S3Part, S3Upload, WriteCondition } from '@stagi/s3/backend.ts';
import { S3Error } from '@stagi/s3/errors.ts';
import { multipartEtag } from '@stagi/s3/etag.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import type { S3PartTable } from '../db/storageTables.ts';
import { bookBytes, bookUse, changeBucket, type Writer } from './changeBucket.ts';
import { settleBlob, storeObject } from './commitObject.ts';
import { keyBytes, presentObject, presentPart, presentUpload } from './rows.ts';

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export async function createUpload(
  db: Db,
  bucketId: number,
  key: string,
  upload: NewUpload,
  writer: Writer = 'person',
): Promise<S3Upload> {
  return changeBucket(db, bucketId, writer, async (trx) => {
    const row = await trx
      .insertInto('s3_upload')
      .values({
        id: newUploadId(),
        bucket_id: bucketId,
        key: keyBytes(key),
        checksum: upload.checksum && JSON.stringify(upload.checksum),
        headers: JSON.stringify(upload.headers),
        metadata: JSON.stringify(upload.metadata),
        tags: JSON.stringify(upload.tags),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await bookBytes(trx, bucketId, row.counted, writer);
    return presentUpload(row);
  });
}

export async function findUpload(db: Db, bucketId: number, key: string, uploadId: string): Promise<S3Upload | null> {
  if (!UUID.test(uploadId)) return null;
  const row = await db
    .selectFrom('s3_upload')
    .selectAll()
    .where('id', '=', uploadId)
    .where('bucket_id', '=', bucketId)
    .where('key', '=', keyBytes(key))
    .executeTakeFirst();
  return row ? presentUpload(row) : null;
}

/** By number, those above `after`. */
export async function listParts(
  db: Db,
  upload: Pick<S3Upload, 'id'>,
  after: number,
  limit: number,
): Promise<{ parts: S3Part[]; isTruncated: boolean }> {
  const rows = await db
    .selectFrom('s3_part')
    .selectAll()
    .where('upload_id', '=', upload.id)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit + 1)
    .execute();
  return { parts: rows.slice(0, limit).map(presentPart), isTruncated: rows.length > limit };
}

/** In place of an older part of the same number. */
export async function putPart(db: Db, upload: S3Upload, part: NewPart, writer: Writer): Promise<S3Part> {
  return changeBucket(db, upload.bucketId, writer, async (trx) => {
    await requireUpload(trx, upload);
    await settleBlob(trx, upload.bucketId, part.blob);
    const old = await trx
      .selectFrom('s3_part')
      .select(['counted', 'blob_id'])
      .where('upload_id', '=', upload.id)
      .where('number', '=', part.number)
      .executeTakeFirst();
    const counted = sql<bigint>`(select counted from stored) - ${old?.counted ?? 0n}::bigint`;
    const { rows } = await sql<{ modified_at: Date; fits: boolean }>`with
      doomed as (update s3_blob set state = 'doomed' where id = ${old?.blob_id ?? null}::uuid),
      stored as (
        insert into s3_part as part (upload_id, number, blob_id, size, etag, checksum)
        values (${upload.id}, ${part.number}, ${part.blob.id}, ${part.blob.size}, ${part.etag},
          ${part.checksum && JSON.stringify(part.checksum)}::jsonb)
        on conflict (upload_id, number) do update set (blob_id, size, etag, checksum, modified_at)
          = (excluded.blob_id, excluded.size, excluded.etag, excluded.checksum, excluded.modified_at)
        returning modified_at, counted),
      used as (${bookUse(upload.bucketId, counted, 0, writer)})
      select (select modified_at from stored), exists (select from used) as fits`.execute(trx);
    if (!rows[0]!.fits) throw new S3Error('QuotaExceeded');
    return {
      number: part.number,
      size: part.blob.size,
      etag: part.etag,
      checksum: part.checksum,
      modifiedAt: rows[0]!.modified_at,
    };
  });
}

/** Makes the listed parts one object; the bytes of its other parts are removed. No byte is copied. */
export async function completeUpload(
  db: Db,
  upload: S3Upload,
  partNumbers: readonly number[],
  content: Pick<NewObject, 'etag' | 'checksum'>,
  condition?: WriteCondition,
  writer: Writer = 'person',
): Promise<S3Object> {
  return changeBucket(db, upload.bucketId, writer, async (trx, bucket) => {
    const { counted } = await requireUpload(trx, upload);
    const all = await trx.selectFrom('s3_part').selectAll().where('upload_id', '=', upload.id).execute();
    const listed = listedParts(all, partNumbers);
    if (multipartEtag(listed) !== content.etag) throw new S3Error('InvalidPart');
    const chosen = new Set(partNumbers);
    const others = all.filter(({ number }) => !chosen.has(number));
    await sql`with doomed as (update s3_blob set state = 'doomed'
        where id = any(${others.map((part) => part.blob_id)}::uuid[]))
      delete from s3_upload where id = ${upload.id}`.execute(trx);
    return storeObject(
      trx,
      bucket,
      writer,
      upload.key,
      {
        ...content,
        headers: upload.headers,
        metadata: upload.metadata,
        tags: upload.tags,
        blobs: listed.map((part) => ({ id: part.blob_id, size: Number(part.size) })),
        countedBytes: all.reduce((sum, part) => sum + part.counted, counted),
        uploadId: upload.id,
      },
      condition,
    );
  });
}

/** The object that this upload became within the last day, while it is still that. */
export async function findCompletedUpload(
  db: Db,
  bucketId: number,
  key: string,
  uploadId: string,
): Promise<S3Object | null> {
  if (!UUID.test(uploadId)) return null;
  const row = await db
    .selectFrom('s3_object')
    .innerJoin('s3_bucket', 's3_bucket.id', 's3_object.bucket_id')
    .selectAll('s3_object')
    .select('s3_bucket.location')
    .where('s3_object.bucket_id', '=', bucketId)
    .where('s3_object.key', '=', keyBytes(key))
    .where('s3_object.upload_id', '=', uploadId)
    .where('s3_object.modified_at', '>', sql<Date>`now() - interval '1 day'`)
    .executeTakeFirst();
  return row ? presentObject(row, row.location) : null;
}

/** Removes an unfinished upload with its parts. Succeeds when it is gone already. */
export async function abortUpload(db: Db, upload: S3Upload, writer: Writer = 'person'): Promise<void> {
  await changeBucket(db, upload.bucketId, writer, async (trx) => {
    await sql`with
      parts as (select blob_id, counted from s3_part where upload_id = ${upload.id}),
      doomed as (update s3_blob set state = 'doomed' where id in (select blob_id from parts)),
      gone as (delete from s3_upload where id = ${upload.id} returning counted)
      update s3_bucket set used_bytes = used_bytes - (select coalesce(sum(counted), 0) from (
          select counted from parts union all select counted from gone) as counts)::bigint
        where id = ${upload.bucketId}`.execute(trx);
  });
}

/** Under the lock of the bucket: whoever completes or aborts it comes first or last. */
async function requireUpload(trx: Db, upload: S3Upload): Promise<{ counted: bigint }> {
  const found = await trx
    .selectFrom('s3_upload')
    .select('counted')
    .where('id', '=', upload.id)
    .where('bucket_id', '=', upload.bucketId)
    .executeTakeFirst();
  if (!found) throw new S3Error('NoSuchUpload');
  return found;
}

type Part = Pick<S3PartTable, 'number' | 'blob_id' | 'size' | 'etag'>;

function listedParts(all: readonly Part[], numbers: readonly number[]): Part[] {
  const byNumber = new Map(all.map((part) => [part.number, part]));
  return numbers.map((number) => {
    const part = byNumber.get(number);
    if (!part) throw new S3Error('InvalidPart');
    return part;
  });
}

/** A UUID of version 7 (RFC 9562): the time in milliseconds, then random bits. */
function newUploadId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
