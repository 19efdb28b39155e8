import type { Context } from '../context.ts';
import { type CreatedS3Key, createS3Key } from './keys.ts';

/** As S3 shows owners: nothing that XML or a terminal would misread. */
export const ADMIN_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/**
 * An access key that makes, uses and deletes buckets of its own, without quota or price: for operators, to test the S3
 * service. All keys of one name share their buckets.
 */
export const createAdminKey = (ctx: Pick<Context, 'secrets' | 'db'>, name: string): Promise<CreatedS3Key> =>
  createS3Key(ctx, ctx.db, {
    purpose: 'admin',
    workspaceId: null,
    bucketId: null,
    title: name,
    mode: 'read-write',
    prefix: '',
    madeBy: null,
    madeWith: null,
    expiresAt: null,
    adminOwner: name,
  });

/** Ends all keys of this name; their buckets stay. Answers how many there were. */
export async function revokeAdminKeys({ db }: Pick<Context, 'db'>, name: string): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('s3_key')
    .set({ revoked_at: new Date() })
    .where('purpose', '=', 'admin')
    .where('admin_owner', '=', name)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
