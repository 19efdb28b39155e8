import { createHash, randomBytes } from 'node:crypto';
import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { ShareLink } from '@stagi/contract/sharing.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { notFound, refused } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { contains, isId, offsetOf, sortColumn } from '../http/paging.ts';
import { createS3Key, KEY_WORKS, lastingCredential, revokeS3Key } from '../objects/keys.ts';
import { viewStorage } from '../storages/find.ts';
import { fileNameOf } from './fileName.ts';
import { objectOfStorage } from './objectOfStorage.ts';

/** Working links that one storage may have. */
const MAX_LINKS = 1_000;

type Input<Name extends keyof typeof api.sharing> = ParsedInputOf<(typeof api.sharing)[Name]>;

const KEY_TEXT = sql<string>`convert_from(storage_share.object_key, 'UTF8')`;
const SORTABLE = {
  createdAt: 'storage_share.id',
  expiresAt: 's3_key.expires_at',
  key: 'storage_share.object_key',
} as const;

export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The links that still work. Sorts by id where sorted by time: ids are assigned in that order. */
export async function listShareLinks(
  ctx: Member,
  { id, key, entityFilterRequest: request }: Input<'shareLinks'>,
): Promise<{ entities: ShareLink[]; count: number }> {
  const storage = await viewStorage(ctx.db, ctx.workspace.id, { id });
  let links = workingLinks(ctx.db, storage.id);
  if (key !== undefined) links = links.where('storage_share.object_key', '=', Buffer.from(key));
  if (request.queryString) links = links.where(contains([KEY_TEXT], request.queryString));
  const [rows, { count }] = await Promise.all([
    links
      .leftJoin('app_user', 'app_user.id', 's3_key.made_by')
      .select([
        'storage_share.id',
        'storage_share.created_at',
        's3_key.expires_at',
        'app_user.name',
        KEY_TEXT.as('key'),
      ])
      .orderBy(sortColumn(request, SORTABLE), request.orderByDirection)
      .orderBy('storage_share.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    links.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow(),
  ]);
  return { entities: rows.map(present), count };
}

/** Makes a link with an access key of its own, which reads this one object until the link ends. */
export async function createShareLink(
  ctx: Member,
  { id, key, expiresInHours }: Input<'createShareLink'>,
): Promise<ShareLink & { link: string }> {
  const { storage, bucket } = await objectOfStorage(ctx, id, key);
  const { count } = await workingLinks(ctx.db, storage.id)
    .select(sql<number>`count(*)::int`.as('count'))
    .executeTakeFirstOrThrow();
  if (count >= MAX_LINKS) throw refused(text('A storage can have at most 1,000 links at a time. Revoke some first.'));
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(Date.now() + expiresInHours * 3_600_000);
  const made = await createS3Key(ctx, ctx.db, {
    purpose: 'share',
    workspaceId: ctx.workspace.id,
    bucketId: bucket.id,
    title: '',
    mode: 'read-only',
    prefix: key,
    madeBy: ctx.user.id,
    madeWith: lastingCredential(ctx),
    expiresAt,
  });
  const share = await ctx.db
    .insertInto('storage_share')
    .values({
      storage_id: storage.id,
      key_id: made.id,
      token_hash: hashOfToken(token),
      object_key: Buffer.from(key),
    })
    .returning(['id', 'created_at'])
    .executeTakeFirstOrThrow();
  return {
    ...present({ ...share, key, name: ctx.user.name, expires_at: expiresAt }),
    link: `${ctx.config.contentOrigin}/share/${token}/${encodeURIComponent(fileNameOf(key))}`,
  };
}

export async function revokeShareLink(ctx: Member, { id, shareLinkId }: Input<'revokeShareLink'>): Promise<void> {
  const storage = await viewStorage(ctx.db, ctx.workspace.id, { id });
  const link = await workingLinks(ctx.db, storage.id)
    .select('storage_share.key_id')
    .where(isId('storage_share.id', shareLinkId))
    .executeTakeFirst();
  if (!link) throw notFound();
  await revokeS3Key(ctx.db, { id: link.key_id });
}

const workingLinks = (db: Db, storageId: number) =>
  db
    .selectFrom('storage_share')
    .innerJoin('s3_key', 's3_key.id', 'storage_share.key_id')
    .where('storage_share.storage_id', '=', storageId)
    .where(KEY_WORKS);

function present(row: {
  id: number;
  key: string;
  created_at: Date;
  expires_at: Date | null;
  name: string | null;
}): ShareLink {
  return {
    id: row.id,
    key: row.key,
    createdAt: row.created_at.toISOString(),
    createdBy: row.name,
    expiresAt: row.expires_at!.toISOString(),
  };
}
