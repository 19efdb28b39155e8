import { S3_REGION, storageCan } from '@stagi/contract/storageRules.ts';
import { presignUrl } from '@stagi/s3/presign.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { refused } from '../http/errors.ts';
import type { Credential } from '../sessions/authenticate.ts';
import { browserKey, type KeyScope } from './browserKey.ts';
import { viewStorage } from './find.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number }; credential: Credential };

const MINUTE_S = 60;
export const LINK_LIFETIME_S = 15 * MINUTE_S;
/** Parts of a large upload wait for their turn. */
export const PART_LINK_LIFETIME_S = 60 * MINUTE_S;

interface Wanted {
  method: 'GET' | 'PUT';
  key: string;
  query?: Record<string, string>;
}

/** Presigned URLs for one storage, for the web app and other programs of a member. */
export async function presign(
  ctx: Caller,
  storageId: number,
  wanted: readonly Wanted[],
  { expiresInSeconds = LINK_LIFETIME_S, scope }: { expiresInSeconds?: number; scope?: KeyScope } = {},
): Promise<{ links: string[]; expiresAt: string }> {
  return inTransaction(ctx.db, async (trx) => {
    const storage = await viewStorage(trx, ctx.workspace.id, { id: storageId });
    const writes = wanted.some(({ method }) => method === 'PUT');
    const verdict = storageCan[writes ? 'write' : 'read']({ ...storage, readOnly: storage.read_only });
    if (!verdict.allowed) throw refused(verdict.reason);
    const signer = await browserKey(ctx, trx, storage, scope);
    const now = ctx.clock.now();
    const links = wanted.map((one) =>
      presignUrl({
        ...one,
        ...signer,
        origin: ctx.config.s3Origin,
        bucket: storage.bucket!,
        region: S3_REGION,
        expiresInSeconds,
        now,
      }),
    );
    return { links, expiresAt: new Date(now.getTime() + expiresInSeconds * 1000).toISOString() };
  });
}

/** A link to download one object as a file, or `inline` to read its beginning. */
export async function presignDownload(
  ctx: Caller,
  storageId: number,
  { key, inline }: { key: string; inline: boolean },
  scope?: KeyScope,
): Promise<{ link: string; expiresAt: string }> {
  // What users made is text to the browser, whatever it says it is.
  const query: Record<string, string> = inline
    ? { 'response-content-type': 'text/plain; charset=utf-8', 'response-content-disposition': 'inline' }
    : { 'response-content-disposition': attachment(key) };
  const { links, expiresAt } = await presign(ctx, storageId, [{ method: 'GET', key, query }], {
    ...(scope && { scope }),
  });
  return { link: links[0]!, expiresAt };
}

/** RFC 6266: a plain name for old clients, and the real one. */
function attachment(key: string): string {
  const name = key.split('/').filter(Boolean).at(-1) ?? 'object';
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
