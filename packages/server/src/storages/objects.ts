import type { api } from '@stagi/contract/api.ts';
import type { OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import { storageCan } from '@stagi/contract/storageRules.ts';
import type { StorageObject } from '@stagi/contract/storages.ts';
import type { ListEntry, ListedObject } from '@stagi/s3/backend.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { deleteObjects } from '../objects/deleteObjects.ts';
import { listObjects } from '../objects/listObjects.ts';
import { type StorageView, viewStorage } from './find.ts';
import { requireUsable } from './keys.ts';
import { withPublicErrors } from './publicErrors.ts';

type Caller = Context & { workspace: { id: number } };
type Output<K extends keyof typeof api.storages> = Omit<OutputOf<(typeof api.storages)[K]>, 'isSuccess'>;

/** Objects deleted by one call that names a prefix. */
const DELETED_AT_ONCE = 1_000;

export async function listOfObjects(
  ctx: Caller,
  { id, ...wanted }: ParsedInputOf<typeof api.storages.objects>,
): Promise<Output<'objects'>> {
  return pageOfObjects(ctx.db, await viewStorage(ctx.db, ctx.workspace.id, { id }), wanted);
}

/** One page of a storage that the caller may read. */
export async function pageOfObjects(
  db: Db,
  storage: StorageView,
  { prefix, folders, after, limit }: Omit<ParsedInputOf<typeof api.storages.objects>, 'id'>,
): Promise<Output<'objects'>> {
  requireUsable(storage);
  const delimiter = folders ? '/' : '';
  const page = await listObjects(db, storage.bucket_id!, { prefix, delimiter, after: after ?? null, limit });
  const last = page.entries.at(-1);
  return {
    folders: page.entries.flatMap((entry) => (entry.kind === 'prefix' ? [entry.prefix] : [])),
    objects: page.entries.flatMap((entry) => (entry.kind === 'object' ? [presentObject(entry.object)] : [])),
    next: page.isTruncated && last ? markerOf(last) : null,
  };
}

const markerOf = (entry: ListEntry): string => (entry.kind === 'prefix' ? entry.prefix : entry.object.key);

export async function deleteSomeObjects(
  ctx: Caller,
  { id, keys, prefix }: ParsedInputOf<typeof api.storages.deleteObjects>,
): Promise<Output<'deleteObjects'>> {
  const storage = await viewStorage(ctx.db, ctx.workspace.id, { id });
  requireWritable(storage);
  const named = await withPublicErrors(() => deleteObjects(ctx.db, storage.bucket_id!, keys));
  if (prefix === undefined) return { deleted: named, isMore: false };
  const below = await keysBelow(ctx.db, storage, prefix);
  const deleted = await withPublicErrors(() => deleteObjects(ctx.db, storage.bucket_id!, below.keys));
  return { deleted: named + deleted, isMore: below.isMore };
}

async function keysBelow(db: Db, storage: StorageView, prefix: string): Promise<{ keys: string[]; isMore: boolean }> {
  const page = await listObjects(db, storage.bucket_id!, {
    prefix,
    delimiter: '',
    after: null,
    limit: DELETED_AT_ONCE,
  });
  return { keys: page.entries.map(markerOf), isMore: page.isTruncated };
}

export function requireWritable(storage: StorageView): void {
  const verdict = storageCan.write({ ...storage, readOnly: storage.read_only });
  if (!verdict.allowed) throw refused(verdict.reason);
}

export const presentObject = (object: Omit<ListedObject, 'checksum'>): StorageObject => ({
  key: object.key,
  sizeBytes: object.size,
  etag: object.etag,
  contentType: object.contentType,
  modifiedAt: object.modifiedAt.toISOString(),
});
