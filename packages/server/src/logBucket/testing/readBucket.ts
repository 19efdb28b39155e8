import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LogGap, LogLine } from '@stagi/contract/logging.ts';
import type { Context } from '../../context.ts';
import { blobName } from '../../objects/blobs.ts';

export type BucketRecord = LogLine | { gap: LogGap };

/** The objects of a log bucket in the order of their keys. */
export async function objectsOf(ctx: Pick<Context, 'db' | 'blobs'>, storageId: number): Promise<Map<string, Buffer>> {
  const objects = new Map<string, Buffer>();
  for await (const { key, body } of readObjects(ctx, storageId)) objects.set(key, body);
  return objects;
}

/** One after another. */
export async function* readObjects(
  { db, blobs }: Pick<Context, 'db' | 'blobs'>,
  storageId: number,
): AsyncIterable<{ key: string; body: Buffer }> {
  const objects = await db
    .selectFrom('s3_object')
    .innerJoin('storage', 'storage.bucket_id', 's3_object.bucket_id')
    .select(['s3_object.key', 's3_object.blobs', 'storage.location'])
    .where('storage.id', '=', storageId)
    .orderBy('s3_object.key')
    .execute();
  for (const { key, blobs: ids, location } of objects) {
    const parts: Uint8Array[] = [];
    for (const id of ids) {
      for await (const part of await blobs.get(location)!.get(blobName(id))) parts.push(part as Uint8Array);
    }
    yield { key: key.toString(), body: Buffer.concat(parts) };
  }
}

/** What `zstdcat` prints of these objects, one record a line. */
export async function zstdcat(objects: Iterable<Buffer>): Promise<BucketRecord[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-zstd-'));
  try {
    const files = [...objects].map((body, index) => {
      const file = join(folder, `${String(index).padStart(6, '0')}.ndjson.zst`);
      writeFileSync(file, body);
      return file;
    });
    if (files.length === 0) return [];
    const { stdout } = await promisify(execFile)('zstdcat', files, { maxBuffer: 2 ** 30 });
    return stdout
      .trimEnd()
      .split('\n')
      .map((record) => JSON.parse(record) as BucketRecord);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
