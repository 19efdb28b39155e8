import { GB } from '@stagi/contract/storageRules.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, StorageRow } from '../db/schema.ts';
import { closeBucket, createBucket, emptyBucket, probeLocation } from '../objects/buckets.ts';
import { type Lease, releasedLease, releaseLease } from '../reconcile/lease.ts';
import { startReconcileLoop } from '../reconcile/reconcileLoop.ts';
import { decide } from './decide.ts';
import { transitionStorage } from './status.ts';
import { startUsageSamples } from './usageSamples.ts';

/** Storages of one location at a time: a slow one delays no other. */
const MAX_CONCURRENT_PER_LOCATION = 4;
const CHECK_INTERVAL_MS = 5 * 60_000;
const RECHECK_INTERVAL_MS = 30_000;
/** A location is down when so many checks in a row fail. */
const MISSES = 2;
/** A bucket is emptied in parts, so that others come in between. */
const PARTS_PER_STEP = 20;

/** A location does not do what it should; retried, and shown to people. */
class LocationError extends Error {}

/** Moves storages to their desired state, and samples what they hold. */
export function startStorageWorker(ctx: Context): { stop(): Promise<void> } {
  const names = [...ctx.blobs.keys()];
  const workers = [
    startReconcileLoop(ctx, {
      table: 'storage',
      plural: 'storages',
      groups: () => [
        ...names.map((name) => ({
          name,
          condition: sql`location = ${name}`,
          limit: MAX_CONCURRENT_PER_LOCATION,
        })),
        { name: '', condition: sql`location <> all(${names}::text[])`, limit: MAX_CONCURRENT_PER_LOCATION },
      ],
      step: (lease) => step(ctx, lease),
      isExpected: (error) => error instanceof LocationError,
      stuck: sql`closed_at is null and status <> 'creation failed' and status_since < now() - interval '30 minutes'`,
    }),
    startUsageSamples(ctx),
  ];
  return {
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
    },
  };
}

async function step(ctx: Context, lease: Lease): Promise<void> {
  const row = await ctx.db.selectFrom('storage').selectAll().where('id', '=', lease.id).executeTakeFirst();
  if (!row) return releaseLease(ctx.db, 'storage', lease, null);
  switch (decide(row, new Date())) {
    case 'provision':
      return provision(ctx, lease, row);
    case 'give up':
      await apply(ctx, lease, row, null, (trx) =>
        transitionStorage(ctx, trx, row.id, 'creation failed', {
          reason: row.last_error ?? text('The location did not answer in time'),
        }),
      );
      return;
    case 'check':
      return check(ctx, lease, row);
    case 'empty':
      return empty(ctx, lease, row);
    case 'nothing':
      return releaseLease(ctx.db, 'storage', lease, null);
  }
}

async function provision(ctx: Context, lease: Lease, row: StorageRow): Promise<void> {
  await probe(ctx, row.location);
  await apply(ctx, lease, row, CHECK_INTERVAL_MS, async (trx) => {
    const bucketId = await createBucket(trx, {
      name: row.slug,
      workspaceId: row.workspace_id,
      location: row.location,
      quotaBytes: BigInt(row.size_gb) * BigInt(GB),
      isPlatforms: row.kind === 'log',
    });
    if (bucketId === null) {
      await transitionStorage(ctx, trx, row.id, 'creation failed', { reason: text('This Unique ID is taken') });
      return;
    }
    await trx.updateTable('storage').set({ bucket_id: bucketId }).where('id', '=', row.id).execute();
    await transitionStorage(ctx, trx, row.id, 'rented', {});
  });
}

async function probe(ctx: Context, location: string): Promise<void> {
  try {
    await probeLocation(ctx, location);
  } catch (cause) {
    throw new LocationError(text('The location of this storage does not answer'), { cause });
  }
}

async function check(ctx: Context, lease: Lease, row: StorageRow): Promise<void> {
  try {
    await probe(ctx, row.location);
  } catch (error) {
    if (!(error instanceof LocationError)) throw error;
    ctx.log.warn({ err: error, storageId: row.id, location: row.location }, 'a location does not answer');
    await missed(ctx, lease, row, error.message);
    return;
  }
  await apply(ctx, lease, row, CHECK_INTERVAL_MS, (trx) => transitionStorage(ctx, trx, row.id, 'rented', {}));
}

/** One miss may be a hiccup. */
async function missed(ctx: Context, lease: Lease, row: StorageRow, reason: string): Promise<void> {
  const attempts = row.attempts + 1;
  await apply(ctx, lease, row, RECHECK_INTERVAL_MS, async (trx) => {
    await trx.updateTable('storage').set({ attempts, last_error: reason }).where('id', '=', row.id).execute();
    if (attempts >= MISSES) await transitionStorage(ctx, trx, row.id, 'error', { reason });
  });
}

async function empty(ctx: Context, lease: Lease, row: StorageRow): Promise<void> {
  if (row.bucket_id !== null) {
    await closeBucket(ctx.db, row.bucket_id);
    let isEmpty = false;
    for (let part = 0; part < PARTS_PER_STEP && !isEmpty; part++) isEmpty = await emptyBucket(ctx, row.bucket_id);
    if (!isEmpty) return releaseLease(ctx.db, 'storage', lease, 0);
  }
  await apply(ctx, lease, row, null, (trx) => transitionStorage(ctx, trx, row.id, 'deleted', {}));
}

/** Stores the result of a step and releases the lease, unless the lease or what is desired has changed since. */
async function apply(
  ctx: Context,
  lease: Lease,
  row: StorageRow,
  requeueAfterMs: number | null,
  change: (trx: Db) => Promise<unknown>,
): Promise<void> {
  const isApplied = await inTransaction(ctx.db, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('storage')
      .set({ ...releasedLease(requeueAfterMs), attempts: 0, last_error: null })
      .where('id', '=', lease.id)
      .where('lock_token', '=', lease.token)
      .where('gen', '=', row.gen)
      .where('status', '=', row.status)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await change(trx);
    return true;
  });
  if (!isApplied) await releaseLease(ctx.db, 'storage', lease, 0);
}
