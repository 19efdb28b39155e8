import type { ApiToken } from '@stagi/contract/apiTokens.ts';
import { type Permission, TOKEN_PERMISSIONS } from '@stagi/contract/permissions.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { tokenCreatedMail } from '../mail/accountMails.ts';
import { sendMail } from '../mail/send.ts';
import { formatApiToken, hashTokenSecret, newTokenSecret } from '../secrets/apiTokenFormat.ts';
import type { Authenticated, Membership } from '../sessions/authenticate.ts';
import { hasEnded } from './list.ts';
import { presentToken } from './present.ts';

/** Per user and workspace. */
const MAX_TOKENS = 100;

interface Caller extends Visitor {
  user: Authenticated['user'];
  workspace: Membership;
}
interface TokenRequest {
  description: string;
  expiresAt?: string | undefined;
  permissions?: Permission[] | undefined;
}

/** Returns the secret, of which only a hash and this request's encrypted answer (for retries) are stored. Mails the owner. */
export async function createToken(ctx: Caller, wish: TokenRequest): Promise<{ entity: ApiToken; token: string }> {
  const permissions = wish.permissions && grantable(ctx.workspace, wish.permissions);
  await requireQuota(ctx.db, ctx);
  const secret = newTokenSecret();
  const { rows } = await sql<{ id: number; created_at: Date; is_late: boolean }>`
    insert into api_token (user_id, workspace_id, description, hash, permissions, expires_at)
    values (${ctx.user.id}, ${ctx.workspace.id}, ${wish.description}, ${hashTokenSecret(secret)},
      ${permissions ?? null}::text[], ${wish.expiresAt ?? null}::timestamptz)
    returning id, created_at, coalesce(expires_at <= now(), false) as is_late`.execute(ctx.db);
  const row = rows[0]!;
  // Throwing rolls the call's transaction back, and the row with it.
  if (row.is_late) throw invalid(text('The expiration must be in the future'), 'expiresAt');
  const expires_at = wish.expiresAt ? new Date(wish.expiresAt) : null;
  await sendMail(ctx, ctx.db, ctx.user.email, tokenCreatedMail(ctx, ctx.user, wish.description, ctx.workspace.name));
  return {
    entity: presentToken({
      ...row,
      user_id: ctx.user.id,
      workspace_id: ctx.workspace.id,
      workspace_name: ctx.workspace.name,
      description: wish.description,
      permissions: permissions ?? null,
      expires_at,
      is_expired: false,
      last_used_at: null,
      last_used_ip: null,
      archived_at: null,
      archived_by: null,
    }),
    token: formatApiToken({ id: row.id, secret }),
  };
}

/** A token gets no permission that its creator lacks or that tokens may not carry. */
function grantable({ permissions: held }: Membership, wanted: Permission[]): Permission[] {
  const beyond = wanted.find((permission) => !held.includes(permission) || !TOKEN_PERMISSIONS.includes(permission));
  if (beyond)
    throw invalid(text('You cannot give a token the permission {{permission}}'), 'permissions', { permission: beyond });
  return [...new Set(wanted)];
}

async function requireQuota(db: Db, { user, workspace }: Caller): Promise<void> {
  const { count } = await db
    .selectFrom('api_token')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('user_id', '=', user.id)
    .where('workspace_id', '=', workspace.id)
    .where(hasEnded, '=', false)
    .executeTakeFirstOrThrow();
  if (count >= MAX_TOKENS)
    throw refused(text('You have {{limit}} API tokens in this workspace. Archive one that you no longer need.'), {
      limit: MAX_TOKENS,
    });
}
