import type { ApiToken } from '@stagi/contract/apiTokens.ts';
import { type Permission, TOKEN_PERMISSIONS } from '@stagi/contract/permissions.ts';
import { sql } from 'kysely';
import type { Authenticated, Membership } from '../auth/authenticate.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { tokenCreatedMail } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';
import { hashOfSecret, newSecret, writeApiToken } from '../secrets/apiToken.ts';
import { hasEnded } from './list.ts';
import { presentToken } from './present.ts';

/** Of one person in one workspace. */
const TOKENS_MOST = 100;

interface Caller extends Visitor {
  user: Authenticated['user'];
  workspace: Membership;
}
interface Wish {
  description: string;
  expiresAt?: string | undefined;
  permissions?: Permission[] | undefined;
}

/** The secret is answered and kept nowhere but in the sealed answer of this very request; its owner is mailed. */
export async function createToken(ctx: Caller, wish: Wish): Promise<{ entity: ApiToken; token: string }> {
  const permissions = wish.permissions && grantable(ctx.workspace, wish.permissions);
  await refuseTooMany(ctx.db, ctx);
  const secret = newSecret();
  const { rows } = await sql<{ id: number; created_at: Date; is_late: boolean }>`
    insert into api_token (user_id, workspace_id, description, hash, permissions, expires_at)
    values (${ctx.user.id}, ${ctx.workspace.id}, ${wish.description}, ${hashOfSecret(secret)},
      ${permissions ?? null}::text[], ${wish.expiresAt ?? null}::timestamptz)
    returning id, created_at, coalesce(expires_at <= now(), false) as is_late`.execute(ctx.db);
  const row = rows[0]!;
  // Thrown inside the transaction of the call, which takes the row back.
  if (row.is_late) throw invalid('The expiration must be in the future', 'expiresAt');
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
    token: writeApiToken({ id: row.id, secret }),
  };
}

/** Nobody hands on what they do not hold, and some things no token carries. */
function grantable({ permissions: held }: Membership, wanted: Permission[]): Permission[] {
  const beyond = wanted.find((permission) => !held.includes(permission) || !TOKEN_PERMISSIONS.includes(permission));
  if (beyond) throw invalid('A token of yours cannot carry {{permission}}', 'permissions', { permission: beyond });
  return [...new Set(wanted)];
}

async function refuseTooMany(db: Db, { user, workspace }: Caller): Promise<void> {
  const { count } = await db
    .selectFrom('api_token')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('user_id', '=', user.id)
    .where('workspace_id', '=', workspace.id)
    .where(hasEnded, '=', false)
    .executeTakeFirstOrThrow();
  if (count >= TOKENS_MOST)
    throw refused('You have {{limit}} API tokens in this workspace. Archive one that you no longer need.', {
      limit: TOKENS_MOST,
    });
}
