import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { removePlatformObjects } from '../objects/platformObjects.ts';

const BATCH_CHUNKS = 500;

interface OldChunk {
  id: bigint;
  storage_id: number;
  bucket_id: number;
  container_id: number;
  last_seq: bigint;
  key: string;
  bytes: bigint;
}

/** Removes the oldest chunks of a bucket until `bytes` more fit. */
export async function makeRoom(
  ctx: Context,
  { storageId, bucketId }: { storageId: number; bucketId: number },
  bytes: number,
): Promise<void> {
  const { used_bytes: used, quota_bytes: quota } = await ctx.db
    .selectFrom('s3_bucket')
    .select(['used_bytes', 'quota_bytes'])
    .where('id', '=', bucketId)
    .executeTakeFirstOrThrow();
  if (quota === null) return;
  await removeOldest(ctx, [storageId], used + BigInt(bytes) - quota);
}

/**
 * Removes the oldest chunks of these storages, at least so many bytes. The object goes first, then its row: after a crash
 * in between the removal is repeated.
 */
export async function removeOldest(ctx: Context, storageIds: readonly number[], bytes: bigint): Promise<void> {
  for (let left = bytes; left > 0n; ) {
    const chunks = await oldestChunks(ctx, storageIds, left);
    if (chunks.length === 0) return;
    for (const [bucketId, ofBucket] of Map.groupBy(chunks, ({ bucket_id }) => bucket_id)) {
      const keys = ofBucket.map(({ key }) => key);
      await removePlatformObjects(ctx, bucketId, keys);
    }
    await recordRemoval(ctx, chunks);
    left -= chunks.reduce((sum, chunk) => sum + chunk.bytes, 0n);
  }
}

async function oldestChunks({ db }: Context, storageIds: readonly number[], bytes: bigint): Promise<OldChunk[]> {
  const { rows } = await sql<OldChunk>`
    select id, storage_id, bucket_id, container_id, last_seq, key, bytes from (
      select chunk.*, storage.bucket_id, sum(bytes) over (order by chunk.id) - bytes as before
      from (select * from log_chunk where storage_id = any(${storageIds}::integer[]) and state = 'done'
        order by id limit ${BATCH_CHUNKS}) as chunk
      join storage on storage.id = chunk.storage_id
    ) as oldest
    where before < ${bytes} order by id`.execute(db);
  return rows;
}

async function recordRemoval({ db }: Context, chunks: readonly OldChunk[]): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`
      with gone as (delete from log_chunk where id = any(${chunks.map(({ id }) => id)}::bigint[])
        returning container_id, last_seq),
      newest as (select container_id, max(last_seq) as last_seq from gone group by container_id)
      update log_copy set removed_seq = newest.last_seq, removed_at = clock_timestamp()
      from newest where newest.container_id = log_copy.container_id`.execute(trx);
  });
}
