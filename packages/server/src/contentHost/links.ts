import type { Context } from '../context.ts';
import { KEY_WORKS, openS3Key } from '../objects/keys.ts';
import { linkEnded, noSuchLink, type OpenedObject } from './sendObject.ts';
import { hashOfToken } from './shareLinks.ts';
import { openTicket } from './ticket.ts';

type Opener = Pick<Context, 'db' | 'secrets'>;

/** The object of a preview link; refuses a ticket that is not ours or has expired, or whose access key has ended. */
export async function previewedObject(ctx: Opener, sealed: string): Promise<OpenedObject> {
  const ticket = openTicket(ctx, sealed);
  if (!ticket) throw noSuchLink();
  if (ticket.isExpired) throw linkEnded();
  const row = await ctx.db
    .selectFrom('s3_key')
    .innerJoin('s3_bucket', 's3_bucket.id', 's3_key.bucket_id')
    .select(['s3_key.id', 'access_key_id', 'secret_sealed'])
    .where('access_key_id', '=', ticket.accessKeyId)
    .where('purpose', '=', 'browser')
    .where('s3_bucket.name', '=', ticket.bucket)
    .where(KEY_WORKS)
    .executeTakeFirst();
  if (!row) throw linkEnded();
  return {
    bucket: ticket.bucket,
    key: ticket.key,
    accessKeyId: row.access_key_id,
    secretAccessKey: openS3Key(ctx, row).secretAccessKey,
  };
}

/** The one object of a share link; its own access key says whether the link still works. */
export async function sharedObject(ctx: Opener, token: string): Promise<OpenedObject> {
  const row = await ctx.db
    .selectFrom('storage_share')
    .innerJoin('s3_key', 's3_key.id', 'storage_share.key_id')
    .innerJoin('s3_bucket', 's3_bucket.id', 's3_key.bucket_id')
    .select(['s3_key.id', 'access_key_id', 'secret_sealed', 'object_key', 's3_bucket.name', KEY_WORKS.as('works')])
    .where('token_hash', '=', hashOfToken(token))
    .executeTakeFirst();
  if (!row) throw noSuchLink();
  if (!row.works) throw linkEnded();
  return {
    bucket: row.name,
    key: row.object_key.toString(),
    accessKeyId: row.access_key_id,
    secretAccessKey: openS3Key(ctx, row).secretAccessKey,
  };
}
