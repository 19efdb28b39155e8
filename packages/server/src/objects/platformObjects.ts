import { etagHash } from '@stagi/s3/etag.ts';
import type { Context } from '../context.ts';
import { commitObject } from './commitObject.ts';
import { deleteObjects } from './deleteObjects.ts';
import { discardBlob, writeBlob } from './writeBlob.ts';

/**
 * Writes an object for the platform itself, such as a log chunk; durable when it resolves. The same key again replaces
 * it. No quota is checked.
 */
export async function writePlatformObject(
  ctx: Pick<Context, 'db' | 'blobs' | 'registration' | 'log'>,
  bucketId: number,
  key: string,
  body: AsyncIterable<Uint8Array>,
  { contentType, metadata = {} }: { contentType: string; metadata?: Record<string, string> },
): Promise<{ size: number }> {
  const hash = etagHash();
  async function* hashed(): AsyncIterable<Uint8Array> {
    for await (const chunk of body) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const blob = await writeBlob(ctx, bucketId, 'platform', hashed(), null);
  try {
    const { size } = await commitObject(ctx.db, bucketId, 'platform', key, {
      blob,
      etag: hash.digest('hex'),
      checksum: null,
      headers: { 'content-type': contentType },
      metadata,
      tags: {},
    });
    return { size };
  } catch (error) {
    await discardBlob(ctx, blob.id);
    throw error;
  }
}

/** Those that do not exist count as removed. */
export async function removePlatformObjects(
  ctx: Pick<Context, 'db'>,
  bucketId: number,
  keys: readonly string[],
): Promise<void> {
  await deleteObjects(ctx.db, bucketId, keys, 'platform');
}
