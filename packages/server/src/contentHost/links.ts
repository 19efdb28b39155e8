import type { Context } from '../context.ts';
import { KEY_WORKS, openS3Key } from '../objects/keys.ts';
import type { OpenedObject } from './askObject.ts';
import { linkEnded, noSuchLink } from './sendObject.ts';
import { hashOfToken } from './shareLinks.ts';
import { openTicket } from './ticket.ts';
import { openFolder, type ZippedFolder } from './zipLink.ts';

type Opener = Pick<Context, 'db' | 'secrets'>;

/** The object of a preview link; refuses a ticket that is not ours or has expired, or whose access key has ended. */
export async function previewedObject(ctx: Opener, sealed: string): Promise<OpenedObject> {
  const ticket = openTicket(ctx, sealed);
  if (!ticket) throw noSuchLink();
  if (ticket.isExpired) throw linkEnded();
  const { bucket, key } = ticket;
  const { accessKeyId, secretAccessKey } = await keyOfTicket(ctx, ticket);
  return { bucket, key, accessKeyId, secretAccessKey };
}

/** A folder of objects, and the access key that opens them. */
export interface OpenedFolder extends ZippedFolder {
  bucketId: number;
  secretAccessKey: string;
}

/** The folder of an archive link, refused as a preview link is. */
export async function zippedFolder(ctx: Opener, sealed: string): Promise<OpenedFolder> {
  const ticket = openFolder(ctx, sealed);
  if (!ticket) throw noSuchLink();
  if (ticket.isExpired) throw linkEnded();
  const { isExpired: _, ...folder } = ticket;
  return { ...folder, ...(await keyOfTicket(ctx, ticket)) };
}

async function keyOfTicket(ctx: Opener, { bucket, accessKeyId }: { bucket: string; accessKeyId: string }) {
  const row = await ctx.db
    .selectFrom('s3_key')
    .innerJoin('s3_bucket', 's3_bucket.id', 's3_key.bucket_id')
    .select(['s3_key.id', 'access_key_id', 'secret_sealed', 's3_bucket.id as bucket_id'])
    .where('access_key_id', '=', accessKeyId)
    .where('purpose', '=', 'browser')
    .where('s3_bucket.name', '=', bucket)
    .where(KEY_WORKS)
    .executeTakeFirst();
  if (!row) throw linkEnded();
  return { bucketId: row.bucket_id, accessKeyId, secretAccessKey: openS3Key(ctx, row).secretAccessKey };
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
