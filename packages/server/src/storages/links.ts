import { S3_REGION, storageCan } from '@stagi/contract/storageRules.ts';
import { presignUrl } from '@stagi/s3/presign.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { refused } from '../http/errors.ts';
import { browserKey } from './browserKey.ts';
import { viewStorage } from './find.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } };

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
  expiresInSeconds = LINK_LIFETIME_S,
): Promise<{ links: string[]; expiresAt: string }> {
  return inTransaction(ctx.db, async (trx) => {
    const storage = await viewStorage(trx, ctx.workspace.id, { id: storageId });
    const writes = wanted.some(({ method }) => method === 'PUT');
    const verdict = storageCan[writes ? 'write' : 'read']({ ...storage, readOnly: storage.read_only });
    if (!verdict.allowed) throw refused(verdict.reason);
    const signer = await browserKey(ctx, trx, storage);
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

/** RFC 6266: a plain name for old clients, and the real one. */
export function attachment(key: string): string {
  const name = key.split('/').filter(Boolean).at(-1) ?? 'object';
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
