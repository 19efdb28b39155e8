import { inTransaction } from '../../db/pool.ts';
import type { Db } from '../../db/schema.ts';
import { createBucket } from '../../objects/buckets.ts';

/** Makes the bucket of a log storage at once, unless the worker of storages has made it. */
export async function makeBucketNow(db: Db, storageId: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    const { status, slug, workspace_id, location, size_gb } = await trx
      .selectFrom('storage')
      .selectAll()
      .where('id', '=', storageId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    if (status !== 'renting') return;
    const bucket = { name: slug, workspaceId: workspace_id, location, quotaBytes: BigInt(size_gb) * 10n ** 9n };
    const bucket_id = await createBucket(trx, { ...bucket, isPlatforms: true });
    await trx
      .updateTable('storage')
      .set({ status: 'rented', bucket_id, next_at: null })
      .where('id', '=', storageId)
      .execute();
  });
}
