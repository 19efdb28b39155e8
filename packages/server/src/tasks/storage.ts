import type { Ref } from '@stagi/contract/page.ts';
import { storageCan } from '@stagi/contract/storageRules.ts';
import { text } from '@stagi/contract/text.ts';
import type { Db } from '../db/schema.ts';
import { invalid, PublicError } from '../http/errors.ts';
import { listObjects } from '../objects/listObjects.ts';
import { type StorageView, viewStorage } from '../storages/find.ts';

/** The storage of a task, which its output can be written to. */
export async function requireStorage(db: Db, workspaceId: number, ref: Ref): Promise<StorageView> {
  const storage = await viewStorage(db, workspaceId, ref).catch((error: unknown) => {
    if (error instanceof PublicError && error.status === 404)
      throw invalid(text('This storage cannot be chosen'), 'storageRef');
    throw error;
  });
  const verdict = storageCan.write({ ...storage, readOnly: storage.read_only });
  if (!verdict.allowed) throw invalid(verdict.reason, 'storageRef');
  return storage;
}

/** Refuses a key without an object, and a prefix that no object's key begins with. */
export async function requireInput(db: Db, { bucket_id: bucketId }: StorageView, path: string): Promise<void> {
  if (!(await isStored(db, bucketId!, path))) throw invalid(text('Nothing is stored at this path'), 'inputUrlPath');
}

async function isStored(db: Db, bucketId: number, path: string): Promise<boolean> {
  if (path.endsWith('/')) {
    const { entries } = await listObjects(db, bucketId, { prefix: path, delimiter: '', after: null, limit: 1 });
    return entries.length > 0;
  }
  const object = await db
    .selectFrom('s3_object')
    .select('key')
    .where('bucket_id', '=', bucketId)
    .where('key', '=', Buffer.from(path))
    .executeTakeFirst();
  return object !== undefined;
}
