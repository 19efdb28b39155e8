import type { UploadEntry, UploadListRequest, UploadPage } from '@stagi/s3/backend.ts';
import type { Db } from '../db/schema.ts';
import { behind, isCommonPrefix } from './listObjects.ts';
import { keyBytes, presentUpload } from './rows.ts';
import { UUID } from './uploads.ts';

/** The first upload of a page: of this key or one behind it; with an id, only uploads of this key that began later. */
interface Position {
  key: Buffer;
  afterId: string | null;
}

/**
 * By key, then by start: the id of an upload begins with its time. With a delimiter, uploads whose keys share the part
 * up to it count as one entry.
 */
export async function listUploads(db: Db, bucketId: number, request: UploadListRequest): Promise<UploadPage> {
  const { prefix, delimiter, limit } = request;
  if (limit <= 0) return { entries: [], isTruncated: false };
  const until = behind(keyBytes(prefix));
  const entries: UploadEntry[] = [];
  for (let from = startOf(request); entries.length <= limit; ) {
    const wanted = limit + 1 - entries.length;
    const rows = await uploadsFrom(db, bucketId, from, until, wanted);
    let common: string | null = null;
    for (const row of rows) {
      const upload = presentUpload(row);
      common = commonPrefix(upload.key, prefix, delimiter);
      if (common === null) entries.push({ kind: 'upload', upload });
      else if (prefixOf(entries.at(-1)) !== common) entries.push({ kind: 'prefix', prefix: common });
    }
    const last = rows.at(-1);
    if (!last || rows.length < wanted) break;
    // However many uploads share a prefix, they are passed over at once.
    from = common === null ? { key: last.key, afterId: last.id } : { key: behind(keyBytes(common))!, afterId: null };
  }
  return { entries: entries.slice(0, limit), isTruncated: entries.length > limit };
}

function startOf({ prefix, delimiter, after }: UploadListRequest): Position {
  const start: Position = { key: keyBytes(prefix), afterId: null };
  if (after === null) return start;
  const marker = markerOf(after, prefix, delimiter);
  return Buffer.compare(marker.key, start.key) > 0 || (marker.afterId && marker.key.equals(start.key)) ? marker : start;
}

function markerOf(
  { key, uploadId }: NonNullable<UploadListRequest['after']>,
  prefix: string,
  delimiter: string,
): Position {
  const bytes = keyBytes(key);
  if (uploadId !== null && UUID.test(uploadId)) return { key: bytes, afterId: uploadId };
  if (isCommonPrefix(key, prefix, delimiter)) return { key: behind(bytes)!, afterId: null };
  return { key: Buffer.concat([bytes, Buffer.of(0)]), afterId: null };
}

function uploadsFrom(db: Db, bucketId: number, { key, afterId }: Position, until: Buffer | null, limit: number) {
  return db
    .selectFrom('s3_upload')
    .selectAll()
    .where('bucket_id', '=', bucketId)
    .where('key', '>=', key)
    .$if(until !== null, (query) => query.where('key', '<', until!))
    .$if(afterId !== null, (query) =>
      query.where((where) => where.or([where('key', '>', key), where('id', '>', afterId!)])),
    )
    .orderBy('key')
    .orderBy('id')
    .limit(limit)
    .execute();
}

function commonPrefix(key: string, prefix: string, delimiter: string): string | null {
  const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
  return at < 0 ? null : key.slice(0, at + delimiter.length);
}

const prefixOf = (entry: UploadEntry | undefined): string | null => (entry?.kind === 'prefix' ? entry.prefix : null);
