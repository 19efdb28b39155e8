import { randomUUID } from 'node:crypto';
import type { Blob } from '@stagi/s3/backend.ts';
import type { BlobStore } from '@stagi/s3/blobStore.ts';
import { S3Error } from '@stagi/s3/errors.ts';
import type { Context } from '../context.ts';
import { blobName } from './blobs.ts';
import { readAccess, requireWrite, type Writer } from './changeBucket.ts';
import { LocationFailed } from './s3Store.ts';

type Surroundings = Pick<Context, 'db' | 'blobs' | 'registration' | 'log'>;

/**
 * Stores bytes that belong to nothing yet: first the intent, then the bytes. They are durable when it resolves. Whoever
 * does not commit them discards them; those of a process that has ended are removed by the repair.
 */
export async function writeBlob(
  ctx: Surroundings,
  bucketId: number,
  writer: Exclude<Writer, object>,
  body: AsyncIterable<Uint8Array>,
  expectedBytes: number | null,
): Promise<Blob> {
  const owner = ctx.registration.workerId();
  // The repair of another process would take its bytes for those of a process that has ended.
  if (owner === null) throw new S3Error('ServiceUnavailable', 'The service is not connected to its database yet.');
  const access = await readAccess(ctx.db, bucketId, writer);
  requireWrite(access, writer);
  const room =
    writer === 'platform' || access.quota_bytes === null ? null : Number(access.quota_bytes - access.used_bytes);
  if (room !== null && expectedBytes !== null && expectedBytes > room) throw new S3Error('QuotaExceeded');
  const id = randomUUID();
  const store = storeOf(ctx, access.location);
  await ctx.db.insertInto('s3_blob').values({ id, bucket_id: bucketId, location: access.location, owner }).execute();
  try {
    // A body of known length is as long as it says, which the protocol checks.
    const limited = room !== null && expectedBytes === null ? limitBytes(body, room) : body;
    return { id, size: await store.put(blobName(id), limited) };
  } catch (error) {
    await discardBlob(ctx, id);
    throw toldToClient(ctx, error);
  }
}

/** A location that does not answer is worth another try; why is for the operator to read. */
export function toldToClient({ log }: Pick<Context, 'log'>, error: unknown): unknown {
  if (!(error instanceof LocationFailed)) return error;
  log.error({ err: error }, 'a location of objects fails');
  return new S3Error('ServiceUnavailable');
}

async function* limitBytes(body: AsyncIterable<Uint8Array>, most: number): AsyncIterable<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > most) throw new S3Error('QuotaExceeded');
    yield chunk;
  }
}

export function storeOf({ blobs }: Pick<Context, 'blobs'>, location: string): BlobStore {
  const store = blobs.get(location);
  if (!store) throw new Error(`location ${location} is not configured: see S3_LOCATIONS`);
  return store;
}

/** Blobs that could not be given up while the database did not answer. This process lives, so no repair takes them. */
const undiscarded = new Set<string>();

/** Gives up what was written. Not when it was committed meanwhile, as after a commit whose answer was lost. */
export async function discardBlob({ db, log }: Pick<Context, 'db' | 'log'>, id: string): Promise<void> {
  try {
    await db
      .updateTable('s3_blob')
      .set({ state: 'doomed' })
      .where('id', '=', id)
      .where('state', '=', 'writing')
      .execute();
  } catch (error) {
    log.warn({ err: error, blob: id }, 'cannot discard a blob yet');
    undiscarded.add(id);
  }
}

/** Tries again. Throws while the database does not answer. */
export async function discardLeftOver({ db }: Pick<Context, 'db'>): Promise<void> {
  const ids = [...undiscarded];
  if (ids.length === 0) return;
  await db
    .updateTable('s3_blob')
    .set({ state: 'doomed' })
    .where('id', 'in', ids)
    .where('state', '=', 'writing')
    .execute();
  for (const id of ids) undiscarded.delete(id);
}
