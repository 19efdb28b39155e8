import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { createS3Key, credentialColumns, KEY_WORKS, openS3Key } from '../objects/keys.ts';
import type { Credential } from '../sessions/authenticate.ts';
import type { StorageView } from './find.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number }; credential: Credential };

/** Longer than any link lives. */
const LIFETIME = sql`interval '48 hours'`;
const LEFT_AT_LEAST = sql`interval '24 hours'`;

/** What a link of the web app may do, as far as its key says. */
export interface KeyScope {
  mode: 'read-only' | 'read-write';
  prefix: string;
}

/**
 * The key that signs links of the web app for one session or token of a member and one storage. It is listed nowhere, and
 * works only while its maker may use the storage: links end with the membership, and with the session.
 */
export async function browserKey(
  ctx: Caller,
  trx: Db,
  storage: StorageView,
  { mode, prefix }: KeyScope = { mode: storage.kind === 'log' ? 'read-only' : 'read-write', prefix: '' },
): Promise<{ accessKeyId: string; secretAccessKey: string }> {
  const made = credentialColumns(ctx.credential);
  const existing = await trx
    .selectFrom('s3_key')
    .select(['access_key_id', 'secret_sealed'])
    .where('bucket_id', '=', storage.bucket_id)
    .where('purpose', '=', 'browser')
    .where('mode', '=', mode)
    .where('prefix', '=', prefix)
    .where('made_by', '=', ctx.user.id)
    .where(sql.ref(made.session_id === null ? 'api_token_id' : 'session_id'), '=', made.session_id ?? made.api_token_id)
    .where('expires_at', '>', sql<Date>`clock_timestamp() + ${LEFT_AT_LEAST}`)
    .where(KEY_WORKS)
    .orderBy('expires_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (existing) return openS3Key(ctx, existing);
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() + ${LIFETIME} as at`.execute(trx);
  return createS3Key(ctx, trx, {
    purpose: 'browser',
    workspaceId: ctx.workspace.id,
    bucketId: storage.bucket_id,
    title: '',
    mode,
    prefix,
    madeBy: ctx.user.id,
    madeWith: ctx.credential,
    expiresAt: rows[0]!.at,
  });
}
