import { text } from '@stagi/contract/text.ts';
import { refused } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { type StorageView, viewStorage } from '../storages/find.ts';
import { requireUsable } from '../storages/keys.ts';

/** A readable storage of the caller's workspace with its bucket; refused without such an object. */
export async function objectOfStorage(
  { db, workspace }: Member,
  storageId: number,
  key: string,
): Promise<{ storage: StorageView; bucket: { id: number; name: string } }> {
  const storage = await viewStorage(db, workspace.id, { id: storageId });
  requireUsable(storage);
  const object = await db
    .selectFrom('s3_object')
    .select('size')
    .where('bucket_id', '=', storage.bucket_id)
    .where('key', '=', Buffer.from(key))
    .executeTakeFirst();
  if (!object) throw refused(text('This object no longer exists'));
  return { storage, bucket: { id: storage.bucket_id!, name: storage.bucket! } };
}
