import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import type { Visitor } from '../http/visitor.ts';

/** Whether this browser belongs to somebody who has signed in from it: they then have an allowance of their own. */
export async function isKnownDevice(ctx: Visitor, userId: number | null): Promise<boolean> {
  // Asked for an unknown address and for a browser without a cookie too: the answer takes the same time.
  const row = await ctx.db
    .selectFrom('known_device')
    .select('user_id')
    .where('user_id', '=', userId ?? 0)
    .where('hash', '=', hashOf(ctx.device ?? ''))
    .executeTakeFirst();
  return row !== undefined;
}

/** The same, where only the address is known yet; asks nothing for a browser without the cookie. */
export function isDeviceOf({ db, device }: Visitor, email: string): () => Promise<boolean> {
  return async () => {
    if (!device) return false;
    const row = await db
      .selectFrom('known_device')
      .innerJoin('app_user', 'app_user.id', 'known_device.user_id')
      .select('known_device.user_id')
      .where('app_user.email', '=', email)
      .where('known_device.hash', '=', hashOf(device))
      .executeTakeFirst();
    return row !== undefined;
  };
}

/** Whose allowance an attempt for an account takes from: a browser its owner signed in from is never kept out by others. */
export async function attemptKey(ctx: Visitor, what: string, email: string, userId: number | null): Promise<string> {
  return (await isKnownDevice(ctx, userId)) ? `${what}|${email}|${ctx.device}` : `${what}|${email}`;
}

/** Remembers the browser of a sign-in. Answers whether it was new to an account that has others. */
export async function rememberDevice(ctx: Visitor, db: Db, userId: number): Promise<boolean> {
  const known = await db
    .selectFrom('known_device')
    .select('hash')
    .where('user_id', '=', userId)
    .orderBy('last_used_at', 'desc')
    .limit(1)
    .execute();
  const device = ctx.device ?? randomBytes(32).toString('base64url');
  const { rows } = await sql<{ is_new: boolean }>`
    insert into known_device as k (user_id, hash) values (${userId}, ${hashOf(device)})
    on conflict (user_id, hash) do update set last_used_at = now()
    returning k.created_at = k.last_used_at as is_new`.execute(db);
  ctx.keepDevice(device);
  return known.length > 0 && rows[0]?.is_new === true;
}

/** A new password makes every browser a stranger again. */
export async function forgetDevices(db: Db, userId: number): Promise<void> {
  await db.deleteFrom('known_device').where('user_id', '=', userId).execute();
}

const hashOf = (device: string): Buffer => createHash('sha256').update(device).digest();
