import { outputPrefix } from '@stagi/contract/taskRules.ts';
import { S3Error } from '@stagi/s3/errors.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { changeBucket } from '../objects/changeBucket.ts';
import { createS3Key, removeS3Keys } from '../objects/keys.ts';
import { listUploads } from '../objects/listUploads.ts';
import { abortUpload } from '../objects/uploads.ts';

const UPLOADS_AT_ONCE = 100;

/**
 * The two keys that the links of a run are signed with: one reads its input, one writes its output. They work from the
 * moment at which the run has its container until it ends, so they need no end of their own: a run may be frozen for
 * weeks. No person is told of them, and they outlive the account of whoever made the task.
 */
export async function createRunKeys(
  ctx: Pick<Context, 'secrets'>,
  trx: Db,
  {
    task,
    run,
  }: { task: { id: number; workspace_id: number; storage_id: number; input_url_path: string }; run: { id: number } },
): Promise<void> {
  const { bucket_id: bucketId } = await trx
    .selectFrom('storage')
    .select('bucket_id')
    .where('id', '=', task.storage_id)
    .executeTakeFirstOrThrow();
  if (bucketId === null) throw new Error(`storage ${task.storage_id} has no bucket`);
  const of = {
    purpose: 'task',
    workspaceId: task.workspace_id,
    bucketId,
    title: '',
    madeBy: null,
    madeWith: null,
    expiresAt: null,
  } as const;
  const input = await createS3Key(ctx, trx, {
    ...of,
    mode: 'read-only',
    prefix: task.input_url_path,
    opensOneObject: !task.input_url_path.endsWith('/'),
  });
  const output = await createS3Key(ctx, trx, { ...of, mode: 'read-write', prefix: outputPrefix(task.id) });
  await trx
    .updateTable('task_run')
    .set({ input_key_id: input.id, output_key_id: output.id })
    .where('id', '=', run.id)
    .execute();
}

/** Ends the links of a run; transfers that they opened are cut within 2 s. Does nothing if it has none. */
export async function revokeRunKeys(trx: Db, runId: number): Promise<void> {
  await inTransaction(trx, async (inside) => {
    const run = await inside
      .selectFrom('task_run')
      .select(['input_key_id', 'output_key_id'])
      .where('id', '=', runId)
      .executeTakeFirst();
    await inside
      .updateTable('task_run')
      .set({ input_key_id: null, output_key_id: null })
      .where('id', '=', runId)
      .execute();
    await removeS3Keys(
      inside,
      [run?.input_key_id, run?.output_key_id].filter((id) => typeof id === 'number'),
    );
  });
}

/**
 * Removes the uploads that a run has not completed. In the transaction that ends the run: the lock of the bucket, held
 * until then, lets none be begun after this one has looked.
 */
export async function abortRunUploads(trx: Db, runId: number): Promise<void> {
  const run = await trx
    .selectFrom('task_run')
    .innerJoin('task', 'task.id', 'task_run.task_id')
    .innerJoin('storage', 'storage.id', 'task.storage_id')
    .select(['task.id', 'storage.bucket_id'])
    .where('task_run.id', '=', runId)
    .executeTakeFirstOrThrow();
  const { bucket_id: bucketId } = run;
  if (bucketId === null) return;
  try {
    await changeBucket(trx, bucketId, 'platform', (inside) => abortBelow(inside, bucketId, outputPrefix(run.id)));
  } catch (error) {
    // Its storage is being deleted, with all uploads.
    if (error instanceof S3Error && error.code === 'NoSuchBucket') return;
    throw error;
  }
}

async function abortBelow(trx: Db, bucketId: number, prefix: string): Promise<void> {
  for (let isMore = true; isMore; ) {
    const page = await listUploads(trx, bucketId, { prefix, delimiter: '', after: null, limit: UPLOADS_AT_ONCE });
    for (const entry of page.entries) if (entry.kind === 'upload') await abortUpload(trx, entry.upload, 'platform');
    isMore = page.isTruncated;
  }
}
