import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { GB, storageCan } from '@stagi/contract/storageRules.ts';
import { text } from '@stagi/contract/text.ts';
import { requireFirstDay } from '../billing/rentGate.ts';
import { syncStorageSegment } from '../billing/storageSegments.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { requireVersion } from '../http/editVersion.ts';
import { invalid, refused } from '../http/errors.ts';
import { resizeBucket } from '../objects/buckets.ts';
import { priceOfSize } from './create.ts';
import { lockStorage, type StorageView } from './find.ts';
import { storageVersion } from './present.ts';
import { requireStorageQuota } from './quota.ts';
import { announceStorage, transitionStorage } from './status.ts';

type Caller = Context & { workspace: { id: number } & WorkspacePlan };

/** Changes title or size. Each size is billed to the second. */
export async function editStorage(
  ctx: Caller,
  { id, title, sizeGb, version }: ParsedInputOf<typeof api.storages.edit>,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const storage = await lockStorage(trx, ctx.workspace.id, id);
    requireVersion(version, storageVersion(storage));
    if (title !== undefined) await trx.updateTable('storage').set({ title }).where('id', '=', id).execute();
    if (sizeGb !== undefined && sizeGb !== storage.size_gb) await resize(ctx, trx, storage, sizeGb);
    await announceStorage(trx, storage);
  });
}

async function resize(ctx: Caller, trx: Db, storage: StorageView, sizeGb: number): Promise<void> {
  const verdict = storageCan.resize({ ...storage, readOnly: storage.read_only });
  if (!verdict.allowed) throw refused(verdict.reason);
  const price = priceOfSize(sizeGb);
  if (sizeGb > storage.size_gb) {
    await requireStorageQuota(trx, ctx.workspace, sizeGb - storage.size_gb);
    await requireFirstDay(trx, ctx.workspace.id, price - storage.price_per_month);
  }
  if (!(await resizeBucket(trx, storage.bucket_id!, BigInt(sizeGb) * BigInt(GB))))
    throw invalid(text('The size cannot be less than what is stored: {{used}} GB'), 'sizeGb', {
      used: Math.ceil(Number(storage.used_bytes) / GB),
    });
  await trx
    .updateTable('storage')
    .set({ size_gb: sizeGb, price_per_month: price })
    .where('id', '=', storage.id)
    .execute();
  await syncStorageSegment(trx, storage.id);
}

/** Deletes a storage with everything in it; the worker empties its bucket. */
export async function deleteStorage(
  ctx: Caller,
  { id, slugTyped }: ParsedInputOf<typeof api.storages.delete>,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const storage = await lockStorage(trx, ctx.workspace.id, id);
    const verdict = storageCan.delete({ ...storage, readOnly: storage.read_only });
    if (!verdict.allowed) throw refused(verdict.reason);
    if (slugTyped !== storage.slug) throw invalid(text('This is not the Unique ID of the storage'), 'slugTyped');
    await transitionStorage(ctx, trx, id, 'terminating', {});
  });
}
