import { S3Error } from '@stagi/s3/errors.ts';
import { type RawBuilder, sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { limitConcurrencyByKey } from '../loops/concurrency.ts';
import { KEY_WORKS } from './keys.ts';

/** On whose behalf: a key, a person whose call was authorized, or the platform, which has no quota here. */
export type Writer = { accessKeyId: string } | 'person' | 'platform';

export interface LockedBucket {
  id: number;
  location: string;
}

/**
 * Runs a change of what a bucket holds. All changes of one bucket take its lock first, so that conditions and use are
 * exact and no two writers deadlock. What was revoked or became read-only while bytes came is refused here.
 */
export function changeBucket<T>(
  db: Db,
  bucketId: number,
  writer: Writer,
  change: (trx: Db, bucket: LockedBucket) => Promise<T>,
): Promise<T> {
  const run = () => inTransaction(db, (trx) => underLock(trx, bucketId, writer, change));
  return db.isTransaction ? run() : limitByBucket(bucketId, run);
}

/** Who waits for the lock of a bucket keeps a connection of the database from everybody: of one bucket only one waits. */
const limitByBucket = limitConcurrencyByKey<number>(2);

async function underLock<T>(
  trx: Db,
  bucketId: number,
  writer: Writer,
  change: (trx: Db, bucket: LockedBucket) => Promise<T>,
): Promise<T> {
  await sql`select from s3_bucket where id = ${bucketId} for no key update`.execute(trx);
  // In a statement of its own, which sees what was committed while this one waited for the lock.
  const access = await readAccess(trx, bucketId, writer);
  requireWrite(access, writer);
  return change(trx, { id: bucketId, location: access!.location });
}

export interface BucketAccess {
  location: string;
  quota_bytes: bigint | null;
  used_bytes: bigint;
  is_platforms: boolean;
  is_closed: boolean;
  /** Its workspace is disabled or deleted. */
  is_disabled: boolean;
  is_exhausted: boolean;
  key_works: boolean | null;
}

export async function readAccess(db: Db, bucketId: number, writer: Writer): Promise<BucketAccess | undefined> {
  const accessKeyId = typeof writer === 'object' ? writer.accessKeyId : null;
  const { rows } = await sql<BucketAccess>`select location, quota_bytes, used_bytes, is_platforms,
      closed_at is not null as is_closed,
      workspace.disabled_at is not null or workspace.deleted_at is not null as is_disabled,
      workspace.exhausted_at is not null as is_exhausted,
      (select ${KEY_WORKS} from s3_key where access_key_id = ${accessKeyId}) as key_works
    from s3_bucket left join workspace on workspace.id = s3_bucket.workspace_id
    where s3_bucket.id = ${bucketId}`.execute(db);
  return rows[0];
}

export function requireWrite(access: BucketAccess | undefined, writer: Writer): asserts access {
  if (!access || access.is_closed) throw new S3Error('NoSuchBucket');
  if (writer === 'platform') return;
  if (access.is_disabled) throw new S3Error('AccessDenied', 'The workspace of this bucket is disabled.');
  if (typeof writer === 'object' && !access.key_works)
    throw new S3Error('AccessDenied', 'The access key has been revoked or has expired.');
  if (access.is_platforms) throw new S3Error('AccessDenied', 'Only the platform writes to this bucket.');
  if (access.is_exhausted)
    throw new S3Error('AccessDenied', 'The balance is zero: this bucket is read-only until a deposit.');
}

/**
 * SQL: an update of the bucket's use, for a `with` clause. It changes no row where the bytes do not fit. What shrinks the
 * use always fits.
 */
export const bookUse = (bucketId: number, bytes: bigint | RawBuilder<bigint>, objects: number, writer: Writer) =>
  sql`update s3_bucket set used_bytes = used_bytes + (${bytes})::bigint, object_count = object_count + ${objects}::integer
    where id = ${bucketId} and ((${bytes})::bigint <= 0 or ${writer === 'platform'}::boolean
      or quota_bytes is null or used_bytes + (${bytes})::bigint <= quota_bytes) returning id`;

/** Books bytes under the lock of the bucket. Throws where they do not fit. */
export async function bookBytes(trx: Db, bucketId: number, bytes: bigint, writer: Writer): Promise<void> {
  const { rows } = await bookUse(bucketId, bytes, 0, writer).execute(trx);
  if (rows.length === 0) throw new S3Error('QuotaExceeded');
}
