import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type { RegisteredApp } from '../config/registeredApps.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { ACCESS_TOKEN_SECONDS, signAccessToken, verifyAccessToken } from '../sessions/accessToken.ts';
import { hashOfToken, issueRefreshToken, revokeSessionsQuery, SESSION_DAYS } from '../sessions/sessions.ts';
import { hashOfCode } from './authorize.ts';
import { OauthError } from './oauthError.ts';
import { shutOut } from './shutOut.ts';

/** The body of a token response (RFC 6749 5.1). */
export interface TokenAnswer {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  refresh_token: string;
}

export interface AppVisitor extends Pick<Context, 'config' | 'db' | 'keys' | 'log'> {
  ip: string;
  userAgent: string | null;
}

type Outcome = { userId: number; sessionId: string; refreshToken: string } | { refused: string };

/**
 * Exchanges an authorization code for tokens (RFC 6749 4.1.3, RFC 7636 4.6). Any use consumes it; a second use means that
 * it was stolen and revokes the session of the first (RFC 6749 4.1.2). The row is locked, so that parallel uses are
 * handled one after the other.
 */
export async function exchangeAuthorizationCode(
  ctx: AppVisitor,
  app: RegisteredApp,
  given: { code: string; verifier: string; redirectUri: string | null },
): Promise<TokenAnswer> {
  const outcome = await inTransaction(ctx.db, async (trx): Promise<Outcome> => {
    const hash = hashOfCode(given.code);
    const code = await trx
      .selectFrom('oauth_code')
      .selectAll()
      .select(sql<boolean>`expires_at > clock_timestamp()`.as('in_time'))
      .where('hash', '=', hash)
      .forUpdate()
      .executeTakeFirst();
    if (!code) return { refused: 'The code is not known' };
    if (code.used_at) {
      if (code.gave) await shutOut(trx, code.gave, 'authorization code used twice');
      ctx.log.warn({ app: code.app_id, sessionId: code.gave }, 'an authorization code came twice: what it gave ended');
      return { refused: 'The code has been used' };
    }
    // Used by another app: it stays valid for its own.
    if (code.app_id !== app.id) return { refused: 'The code was made for another app' };
    const consume = trx.updateTable('oauth_code').set({ used_at: sql<Date>`clock_timestamp()` });
    await consume.where('hash', '=', hash).execute();
    if (!code.in_time) return { refused: 'The code has expired' };
    if (given.redirectUri !== null && given.redirectUri !== code.redirect_uri)
      return { refused: 'The code was sent to another address' };
    if (!matchesChallenge(given.verifier, code.code_challenge))
      return { refused: 'The verifier does not answer the challenge' };

    const allower = await authorizingUser(trx, code.allowed_by);
    if (!allower) return { refused: 'Whoever allowed this is no longer logged in' };
    const sessionId = randomUUID();
    await trx
      .insertInto('session')
      .values({
        id: sessionId,
        user_id: allower.user_id,
        auth_type: allower.auth_type,
        ip: ctx.ip,
        user_agent: ctx.userAgent,
        app_id: app.id,
        app_permissions: code.permissions,
        app_workspace_id: code.workspace_id,
        expires_at: sql<Date>`now() + ${`${SESSION_DAYS} days`}::interval`,
      })
      .execute();
    await trx.updateTable('oauth_code').set({ gave: sessionId }).where('hash', '=', hash).execute();
    ctx.log.info({ userId: allower.user_id, sessionId, ip: ctx.ip, app: app.id }, 'signed in');
    return { userId: allower.user_id, sessionId, refreshToken: await issueRefreshToken(trx, sessionId, null) };
  });
  return answer(ctx, outcome);
}

/**
 * Exchanges a refresh token for the next (RFC 6749 6). Each works once; a reused one was stolen and revokes the session
 * (RFC 9700 4.14.2). There is no grace period as for browsers: an app has no tabs that race.
 */
export async function exchangeRefreshToken(ctx: AppVisitor, app: RegisteredApp, token: string): Promise<TokenAnswer> {
  const hash = hashOfToken(token);
  const outcome = await inTransaction(ctx.db, async (trx): Promise<Outcome> => {
    const { rows } = await sql<{ id: string; session_id: string; user_id: number }>`
      update refresh_token t set used_at = clock_timestamp() from session s join app_user u on u.id = s.user_id
      where t.hash = ${hash} and t.used_at is null and t.expires_at > now() and s.id = t.session_id
        and s.app_id = ${app.id} and s.revoked_at is null and s.expires_at > now() and u.disabled_at is null
      returning t.id, t.session_id, s.user_id`.execute(trx);
    const fresh = rows[0];
    if (fresh) {
      await trx
        .updateTable('session')
        .set({ last_used_at: sql<Date>`now()`, ip: ctx.ip, user_agent: ctx.userAgent })
        .where('id', '=', fresh.session_id)
        .execute();
      const refreshToken = await issueRefreshToken(trx, fresh.session_id, fresh.id);
      return { userId: fresh.user_id, sessionId: fresh.session_id, refreshToken };
    }
    const used = await trx
      .selectFrom('refresh_token')
      .innerJoin('session', 'session.id', 'refresh_token.session_id')
      .select('session.id')
      .where('refresh_token.hash', '=', hash)
      .where('refresh_token.used_at', 'is not', null)
      .where('session.app_id', '=', app.id)
      .executeTakeFirst();
    if (!used) return { refused: 'The refresh token is not known or has expired' };
    await shutOut(trx, used.id, 'refresh token reused');
    ctx.log.warn({ app: app.id, sessionId: used.id }, 'a used refresh token of an app came back: it is shut out');
    return { refused: 'The refresh token has been used' };
  });
  return answer(ctx, outcome);
}

/** Revokes the session of an access or refresh token of this app (RFC 7009 2.1). Does nothing for an unknown token. */
export async function revokeToken(ctx: AppVisitor, app: RegisteredApp, token: string): Promise<void> {
  const sessionId =
    (await verifyAccessToken(ctx.keys.access, token))?.sessionId ?? (await sessionOfRefresh(ctx, token));
  if (!sessionId) return;
  const session = await ctx.db.selectFrom('session').select('app_id').where('id', '=', sessionId).executeTakeFirst();
  if (!session) return;
  if (session.app_id !== app.id) throw new OauthError('invalid_grant', 'The token was given to another app');
  await revokeSessionsQuery(ctx.db, 'revoked by its app').where('id', '=', sessionId).execute();
}

/** RFC 7636 4.1 and 4.6. */
function matchesChallenge(verifier: string, challenge: string): boolean {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  const made = createHash('sha256').update(verifier).digest('base64url');
  return timingSafeEqual(Buffer.from(made), Buffer.from(challenge));
}

function authorizingUser(db: Db, sessionId: string) {
  return db
    .selectFrom('session')
    .innerJoin('app_user', 'app_user.id', 'session.user_id')
    .select(['session.user_id', 'session.auth_type'])
    .where('session.id', '=', sessionId)
    .where('session.revoked_at', 'is', null)
    .where('session.expires_at', '>', sql<Date>`now()`)
    .where('app_user.disabled_at', 'is', null)
    .executeTakeFirst();
}

async function sessionOfRefresh({ db }: AppVisitor, token: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('refresh_token')
    .select('session_id')
    .where('hash', '=', hashOfToken(token))
    .executeTakeFirst();
  return row?.session_id;
}

async function answer(ctx: AppVisitor, outcome: Outcome): Promise<TokenAnswer> {
  if ('refused' in outcome) throw new OauthError('invalid_grant', outcome.refused);
  return {
    access_token: await signAccessToken(ctx.keys.access, outcome.userId, outcome.sessionId),
    token_type: 'Bearer',
    expires_in: ACCESS_TOKEN_SECONDS,
    refresh_token: outcome.refreshToken,
  };
}
