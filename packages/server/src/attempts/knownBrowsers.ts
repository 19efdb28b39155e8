import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import type { Visitor } from '../http/visitor.ts';

/** Whether this user has signed in from this browser before. */
export async function isKnownBrowser(ctx: Visitor, userId: number | null): Promise<boolean> {
  // Also queried for an unknown address or a browser without the cookie, so that the time tells nothing.
  const row = await ctx.db
    .selectFrom('known_device')
    .select('user_id')
    .where('user_id', '=', userId ?? 0)
    .where('hash', '=', hashOf(ctx.browserToken ?? ''))
    .executeTakeFirst();
  return row !== undefined;
}

/** The same by e-mail, as a function to call later; it queries nothing for a browser without the cookie. */
export function knownBrowserCheck({ db, browserToken }: Visitor, email: string): () => Promise<boolean> {
  return async () => {
    if (!browserToken) return false;
    const row = await db
      .selectFrom('known_device')
      .innerJoin('app_user', 'app_user.id', 'known_device.user_id')
      .select('known_device.user_id')
      .where('app_user.email', '=', email)
      .where('known_device.hash', '=', hashOf(browserToken))
      .executeTakeFirst();
    return row !== undefined;
  };
}

/** The key that attempts are counted by. A known browser has its own, so that strangers cannot lock an owner out. */
export async function attemptKey(ctx: Visitor, what: string, email: string, userId: number | null): Promise<string> {
  return (await isKnownBrowser(ctx, userId)) ? `${what}|${email}|${ctx.browserToken}` : `${what}|${email}`;
}

/** Remembers the browser of a sign-in. Returns whether it is new to an account that has other known browsers. */
export async function rememberBrowser(ctx: Visitor, db: Db, userId: number): Promise<boolean> {
  const known = await db
    .selectFrom('known_device')
    .select('hash')
    .where('user_id', '=', userId)
    .orderBy('last_used_at', 'desc')
    .limit(1)
    .execute();
  const browserToken = ctx.browserToken ?? randomBytes(32).toString('base64url');
  const { rows } = await sql<{ is_new: boolean }>`
    insert into known_device as k (user_id, hash) values (${userId}, ${hashOf(browserToken)})
    on conflict (user_id, hash) do update set last_used_at = now()
    returning k.created_at = k.last_used_at as is_new`.execute(db);
  ctx.keepBrowserToken(browserToken);
  return known.length > 0 && rows[0]?.is_new === true;
}

/** After a change of the password no browser is a known one. */
export async function forgetBrowsers(db: Db, userId: number): Promise<void> {
  await db.deleteFrom('known_device').where('user_id', '=', userId).execute();
}

const hashOf = (browserToken: string): Buffer => createHash('sha256').update(browserToken).digest();
