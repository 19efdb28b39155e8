import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import type { AuthType } from '@stagi/contract/authResponse.ts';
import type { Language } from '@stagi/contract/languages.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { notFound, unauthenticated } from '../http/errors.ts';
import { sessionEndedMail } from '../mail/accountMails.ts';
import { sendMail } from '../mail/send.ts';
import { signAccessToken } from './accessToken.ts';

const IDLE_DAYS = 14;
/** A session ends after this, however often it is renewed. */
export const SESSION_DAYS = 90;
/** Two tabs may race with one refresh token: within this time the second gets the token that the first got. */
const GRACE_SECONDS = 10;

export interface Tokens {
  accessToken: string;
  refreshToken: string;
}

type SessionContext = Pick<Context, 'config' | 'db' | 'jobs' | 'keys' | 'log' | 'secrets'> & {
  ip: string;
  userAgent: string | null;
  language: Language;
};

/** Asks for no second factor: `finishSignIn` does that before. New accounts have none. */
export async function createSession(
  ctx: SessionContext,
  db: Db,
  userId: number,
  authType: AuthType,
  { steppedUp = false }: { steppedUp?: boolean } = {},
): Promise<Tokens> {
  const id = randomUUID();
  await db
    .insertInto('session')
    .values({
      id,
      user_id: userId,
      auth_type: authType,
      ip: ctx.ip,
      user_agent: ctx.userAgent,
      expires_at: sql<Date>`now() + ${`${SESSION_DAYS} days`}::interval`,
      stepped_up_at: steppedUp ? sql<Date>`now()` : null,
    })
    .execute();
  const refreshToken = await issueRefreshToken(db, id, null);
  ctx.log.info({ userId, sessionId: id, ip: ctx.ip, authType, steppedUp }, 'signed in');
  return { refreshToken, accessToken: await signAccessToken(ctx.keys.access, userId, id) };
}

/**
 * Exchanges a refresh token for a new pair. A token works once; its direct reuse within 10 s gets the
 * same successor (two tabs raced), any other reuse ends the whole session. Throws 401 when it is over.
 */
export async function rotateRefreshToken(ctx: SessionContext, refreshToken: string): Promise<Tokens> {
  const hash = hashOfToken(refreshToken);
  const outcome = await inTransaction(
    ctx.db,
    async (trx): Promise<{ token: string; userId: number; sessionId: string } | { stolen: string } | null> => {
      const { rows } = await sql<{ id: string; session_id: string }>`
      update refresh_token t set used_at = clock_timestamp() from session s
      where t.hash = ${hash} and t.used_at is null and t.expires_at > now() and s.id = t.session_id and s.app_id is null
      returning t.id, t.session_id`.execute(trx);
      const fresh = rows[0];
      if (fresh) {
        const session = await liveSession(trx, fresh.session_id);
        if (!session) return null;
        const token = await issueRefreshToken(trx, fresh.session_id, fresh.id);
        await sql`update refresh_token set child_sealed = ${sealFor(refreshToken, token)} where id = ${fresh.id}`.execute(
          trx,
        );
        await sql`update refresh_token set child_sealed = null where session_id = ${fresh.session_id} and id <> ${fresh.id} and child_sealed is not null`.execute(
          trx,
        );
        await trx
          .updateTable('session')
          .set({ last_used_at: sql<Date>`now()`, ip: ctx.ip, user_agent: ctx.userAgent })
          .where('id', '=', fresh.session_id)
          .execute();
        return { token, userId: session.user_id, sessionId: fresh.session_id };
      }
      return handleReusedToken(ctx, trx, hash, refreshToken);
    },
  );
  if (!outcome) throw unauthenticated();
  if ('stolen' in outcome) {
    ctx.log.warn({ sessionId: outcome.stolen }, 'a used refresh token came back: session ended');
    throw unauthenticated();
  }
  return {
    refreshToken: outcome.token,
    accessToken: await signAccessToken(ctx.keys.access, outcome.userId, outcome.sessionId),
  };
}

export async function revokeSessionByToken(ctx: SessionContext, refreshToken: string): Promise<void> {
  const row = await ctx.db
    .selectFrom('refresh_token')
    .select('session_id')
    .where('hash', '=', hashOfToken(refreshToken))
    .executeTakeFirst();
  if (row) await revokeSession(ctx.db, row.session_id, 'signed out');
}

/** Revokes one session of a user. Returns how many were revoked: 0 when it had ended already. 404 for somebody else's. */
export async function revokeOwnSession(db: Db, userId: number, sessionId: string): Promise<number> {
  const { numUpdatedRows } = await revokeSessionsQuery(db, 'ended by its user')
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return 1;
  const mine = db.selectFrom('session').select('id').where('id', '=', sessionId).where('user_id', '=', userId);
  if (!(await mine.executeTakeFirst())) throw notFound();
  return 0;
}

/** Revokes the sessions of a user's other browsers; those of authorized apps stay. Returns how many were revoked. */
export async function revokeOtherBrowsers(db: Db, userId: number, but: string): Promise<number> {
  const others = revokeSessionsQuery(db, 'ended by its user')
    .where('user_id', '=', userId)
    .where('id', '<>', but)
    .where('app_id', 'is', null);
  return Number((await others.executeTakeFirst()).numUpdatedRows);
}

/** Revokes every session of a user but one (all with `null`), those of apps too. Returns how many were revoked. */
export async function revokeOtherSessions(db: Db, userId: number, but: string | null, reason: string): Promise<number> {
  let others = revokeSessionsQuery(db, reason).where('user_id', '=', userId);
  if (but !== null) others = others.where('id', '<>', but);
  return Number((await others.executeTakeFirst()).numUpdatedRows);
}

/** Sessions that can still be used: neither revoked nor expired, with an unused refresh token that has not expired. */
export function liveSessionsOf(db: Db, userId: number) {
  return db
    .selectFrom('session')
    .where('session.user_id', '=', userId)
    .where('session.revoked_at', 'is', null)
    .where('session.expires_at', '>', sql<Date>`now()`)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('refresh_token')
          .select('refresh_token.id')
          .whereRef('refresh_token.session_id', '=', 'session.id')
          .where('refresh_token.used_at', 'is', null)
          .where('refresh_token.expires_at', '>', sql<Date>`now()`),
      ),
    );
}

async function handleReusedToken(
  ctx: SessionContext,
  trx: Db,
  hash: Buffer,
  presented: string,
): Promise<{ token: string; userId: number; sessionId: string } | { stolen: string } | null> {
  const { rows } = await sql<{
    id: string;
    session_id: string;
    child_sealed: Buffer | null;
    in_grace: boolean;
    child_used: boolean;
  }>`
    select t.id, t.session_id, t.child_sealed, t.used_at > clock_timestamp() - ${`${GRACE_SECONDS} seconds`}::interval as in_grace,
      exists (select 1 from refresh_token c where c.parent_id = t.id and c.used_at is not null) as child_used
    from refresh_token t where t.hash = ${hash} and t.used_at is not null`.execute(trx);
  const used = rows[0];
  if (!used) return null;
  const session = await liveSession(trx, used.session_id);
  if (!session) return null;
  if (used.in_grace && !used.child_used && used.child_sealed) {
    return { token: openFor(presented, used.child_sealed), userId: session.user_id, sessionId: used.session_id };
  }
  await revokeSession(trx, used.session_id, 'refresh token reused');
  await sendMail(ctx, trx, session.email, sessionEndedMail(ctx, session));
  return { stolen: used.session_id };
}

async function revokeSession(db: Db, sessionId: string, reason: string): Promise<void> {
  await revokeSessionsQuery(db, reason).where('id', '=', sessionId).execute();
}

/** An update that revokes sessions; the caller says which. A trigger notifies their open streams (migration 0008). */
export function revokeSessionsQuery(db: Db, reason: string) {
  return db
    .updateTable('session')
    .set({ revoked_at: sql<Date>`now()`, revoked_reason: reason })
    .where('revoked_at', 'is', null);
}

function liveSession(
  db: Db,
  id: string,
): Promise<{ user_id: number; email: string; name: string; language: Language | null } | undefined> {
  return (
    db
      .selectFrom('session')
      .innerJoin('app_user', 'app_user.id', 'session.user_id')
      .select(['session.user_id', 'app_user.email', 'app_user.name', 'app_user.language'])
      .where('session.id', '=', id)
      // The sessions of apps are renewed in `apps/tokens.ts`, by stricter rules.
      .where('session.app_id', 'is', null)
      .where('session.revoked_at', 'is', null)
      .where('session.expires_at', '>', sql<Date>`now()`)
      .where('app_user.disabled_at', 'is', null)
      .executeTakeFirst()
  );
}

export async function issueRefreshToken(db: Db, sessionId: string, parentId: string | null): Promise<string> {
  const id = randomUUID();
  const token = `${id}.${randomBytes(32).toString('base64url')}`;
  await db
    .insertInto('refresh_token')
    .values({
      id,
      session_id: sessionId,
      parent_id: parentId,
      hash: hashOfToken(token),
      expires_at: sql<Date>`now() + ${`${IDLE_DAYS} days`}::interval`,
    })
    .execute();
  return token;
}

export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function sealFor(parentToken: string, childToken: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyFrom(parentToken), nonce);
  return Buffer.concat([nonce, cipher.update(childToken, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function openFor(parentToken: string, sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', keyFrom(parentToken), sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8');
}

function keyFrom(token: string): Buffer {
  return Buffer.from(hkdfSync('sha256', token, '', 'stagi refresh successor', 32));
}
