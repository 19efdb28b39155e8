import { storageCan } from '@stagi/contract/storageRules.ts';
import { text } from '@stagi/contract/text.ts';
import { refused } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { findStorage } from '../storages/find.ts';

/** A readable storage of the caller's workspace and its bucket; refused without such an object. */
export async function objectOfStorage(ctx: Member, storageId: number, key: string) {
  const storage = await findStorage(ctx, storageId);
  const readable = storageCan.read(storage);
  if (!readable.allowed) throw refused(readable.reason);
  const object = await ctx.db
    .selectFrom('s3_object')
    .select('size')
    .where('bucket_id', '=', storage.bucketId)
    .where('key', '=', Buffer.from(key))
    .executeTakeFirst();
  if (!object) throw refused(text('This object no longer exists'));
  return { storage, bucket: { id: storage.bucketId, name: storage.bucket } };
}
