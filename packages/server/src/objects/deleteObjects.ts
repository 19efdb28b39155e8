import type { WriteCondition } from '@stagi/s3/backend.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { changeBucket, type Writer } from './changeBucket.ts';
import { requireCondition } from './commitObject.ts';
import { keyBytes } from './rows.ts';

/** Each object of a multipart upload has up to 10,000 blobs, and a statement has 5 s. */
const KEYS_AT_ONCE = 100;

/**
 * Deletes objects; those that do not exist count as deleted. Answers how many there were. `condition` is for a single
 * key. Their bytes are removed afterwards, by `removal.ts`.
 */
export async function deleteObjects(
  db: Db,
  bucketId: number,
  keys: readonly string[],
  writer: Writer = 'person',
  condition?: WriteCondition,
): Promise<number> {
  let deleted = 0;
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE)
    deleted += await deleteSome(db, bucketId, keys.slice(at, at + KEYS_AT_ONCE), writer, condition);
  return deleted;
}

function deleteSome(
  db: Db,
  bucketId: number,
  keys: readonly string[],
  writer: Writer,
  condition: WriteCondition | undefined,
): Promise<number> {
  return changeBucket(db, bucketId, writer, async (trx) => {
    if (condition) {
      const object = await trx
        .selectFrom('s3_object')
        .select('etag')
        .where('bucket_id', '=', bucketId)
        .where('key', '=', keyBytes(keys[0]!))
        .executeTakeFirst();
      requireCondition(object, condition);
    }
    const { rows } = await sql<{ count: bigint }>`with
      gone as (delete from s3_object where bucket_id = ${bucketId} and key = any(${keys.map(keyBytes)}::bytea[])
        returning counted, blobs),
      doomed as (update s3_blob set state = 'doomed' from gone where s3_blob.id = any(gone.blobs)),
      total as (select count(*) as count, coalesce(sum(counted), 0) as bytes from gone),
      used as (update s3_bucket set used_bytes = used_bytes - total.bytes::bigint, object_count = object_count - total.count
        from total where id = ${bucketId})
      select count from total`.execute(trx);
    return Number(rows[0]!.count);
  });
}
