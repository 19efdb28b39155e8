import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { refused } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { behind } from '../objects/listObjects.ts';
import { keyBytes } from '../objects/rows.ts';
import { browserKey, type KeyScope } from '../storages/browserKey.ts';
import { viewStorage } from '../storages/find.ts';
import { requireUsable } from '../storages/keys.ts';

const PLACE = 'content|zip';
const MINUTES = 10;
/** Each stays in memory until the end, for the directory of the archive. */
export const MAX_ZIPPED = 100_000;

const Ticket = z.object({
  bucket: z.string(),
  prefix: z.base64url(),
  name: z.string(),
  accessKeyId: z.string(),
  expiresAt: z.number(),
});

/** All objects below a prefix; `name` is that of the archive and of its top folder. */
export interface ZippedFolder {
  bucket: string;
  prefix: string;
  name: string;
  accessKeyId: string;
}

/** A link on the content host to a ZIP file of all objects below a prefix. It must be opened within ten minutes. */
export async function createZipLink(
  ctx: Member,
  { id, prefix, name }: { id: number; prefix: string; name?: string },
  scope?: KeyScope,
): Promise<{ link: string; expiresAt: string }> {
  const storage = await viewStorage(ctx.db, ctx.workspace.id, { id });
  requireUsable(storage);
  const found = await countBelow(ctx, storage.bucket_id!, prefix);
  if (found === 0) throw refused(text('There is nothing in this folder'));
  if (found > MAX_ZIPPED)
    throw refused(text('This folder has more than {{limit}} objects: fetch it with an S3 tool'), {
      limit: MAX_ZIPPED,
    });
  const { accessKeyId } = await inTransaction(ctx.db, (trx) => browserKey(ctx, trx, storage, scope));
  const expiresAt = new Date(Date.now() + MINUTES * 60_000);
  const folder = { bucket: storage.bucket!, prefix, name: name ?? nameOf(prefix, storage.bucket!), accessKeyId };
  return {
    link: `${ctx.config.contentOrigin}/zip/${sealFolder(ctx, folder, expiresAt)}`,
    expiresAt: expiresAt.toISOString(),
  };
}

const nameOf = (prefix: string, bucket: string): string => prefix.split('/').findLast((part) => part !== '') ?? bucket;

/** One more than may be archived stands for all above. */
async function countBelow({ db }: Pick<Context, 'db'>, bucketId: number, prefix: string): Promise<number> {
  const from = keyBytes(prefix);
  const until = behind(from);
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from (
      select from s3_object where bucket_id = ${bucketId} and key >= ${from}
        and (${until}::bytea is null or key < ${until}) limit ${MAX_ZIPPED + 1}) found`.execute(db);
  return rows[0]!.count;
}

function sealFolder({ secrets }: Pick<Context, 'secrets'>, folder: ZippedFolder, expiresAt: Date): string {
  const ticket: z.infer<typeof Ticket> = {
    ...folder,
    prefix: Buffer.from(folder.prefix).toString('base64url'),
    expiresAt: expiresAt.getTime(),
  };
  return secrets.seal(JSON.stringify(ticket), PLACE);
}

/** Null: not ours, or changed. */
export function openFolder(
  { secrets }: Pick<Context, 'secrets'>,
  sealed: string,
): (ZippedFolder & { isExpired: boolean }) | null {
  let plain: string;
  try {
    plain = secrets.open(sealed, PLACE);
  } catch {
    // Anybody may write anything into an address.
    return null;
  }
  const { expiresAt, prefix, ...folder } = Ticket.parse(JSON.parse(plain));
  return { ...folder, prefix: Buffer.from(prefix, 'base64url').toString(), isExpired: expiresAt <= Date.now() };
}
