import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { keyBytes, keyText } from './rows.ts';

/** Those of these keys that are also the folder of others: with `a/b` in the bucket, `a` is. */
export async function keysWithOthersBelow(db: Db, bucketId: number, keys: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{
    key: Buffer;
  }>`select given.key from unnest(${keys.map(keyBytes)}::bytea[]) as given (key),
    lateral (select from s3_object where bucket_id = ${bucketId}
      and key > given.key || '/'::bytea and key < given.key || '0'::bytea order by key limit 1) as below`.execute(db);
  return rows.map(({ key }) => keyText(key));
}
