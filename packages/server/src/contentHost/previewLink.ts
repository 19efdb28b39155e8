import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { inTransaction } from '../db/pool.ts';
import type { Member } from '../http/handlers.ts';
import { browserKey, type KeyScope } from '../storages/browserKey.ts';
import { objectOfStorage } from './objectOfStorage.ts';
import { PREVIEW_MINUTES, sealTicket } from './ticket.ts';

/** A link that shows one object in the browser, with an access key of the caller. */
export async function createPreviewLink(
  ctx: Member,
  { id, key }: ParsedInputOf<typeof api.sharing.previewLink>,
  scope?: KeyScope,
): Promise<{ link: string; expiresAt: string }> {
  const { storage, bucket } = await objectOfStorage(ctx, id, key);
  const { accessKeyId } = await inTransaction(ctx.db, (trx) => browserKey(ctx, trx, storage, scope));
  const expiresAt = new Date(Date.now() + PREVIEW_MINUTES * 60_000);
  const ticket = sealTicket(ctx, { bucket: bucket.name, key, accessKeyId }, expiresAt);
  return { link: `${ctx.config.contentOrigin}/preview/${ticket}`, expiresAt: expiresAt.toISOString() };
}
