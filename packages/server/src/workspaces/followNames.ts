import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { every } from '../every.ts';

/** A notice may be lost with the process that heard it. */
const LOOK_MS = 60_000;
/** So many have followed when the name was changed, and follow in each step after it (migration 0040). */
export const AT_ONCE = 50;

/** Has the memberships of people in many workspaces follow their new names. Any number of these may run on one database. */
export function startFollowingNames(ctx: Context): { stop(): Promise<void> } {
  const loop = every(ctx, LOOK_MS, 'following new names', () => followNames(ctx));
  const unsubscribe = ctx.bus.subscribe('due', ({ kind }) => {
    if (kind === 'membership') loop.now();
  });
  return {
    async stop() {
      unsubscribe();
      await loop.stop();
    },
  };
}

/** Until none is left behind, but for people who are held elsewhere: the next look takes them. Answers how many followed. */
export async function followNames({ db, log }: Pick<Context, 'db' | 'log'>): Promise<number> {
  let followed = 0;
  const late = await db.selectFrom('membership_follows').select('user_id').orderBy('since').execute();
  for (const { user_id } of late)
    try {
      for (let step = AT_ONCE; step === AT_ONCE; ) {
        step = await follow(db, user_id);
        followed += step;
      }
    } catch (error) {
      log.warn({ err: error, userId: user_id }, 'memberships could not follow a name now');
    }
  return followed;
}

/**
 * One step. The person first, as whoever changes a name or deletes an account does: who changes it again meanwhile waits
 * for the step, and asks for all of them anew.
 */
export function follow(db: Db, userId: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    await trx.selectFrom('app_user').select('id').where('id', '=', userId).forNoKeyUpdate().execute();
    const { numAffectedRows = 0n } = await sql`
      update membership m set name = u.name, email = u.email from app_user u
      where u.id = ${userId} and m.user_id = u.id and m.workspace_id = any(array(
        select workspace_id from membership where user_id = u.id and (name, email) is distinct from (u.name, u.email)
        order by created_at limit ${AT_ONCE}))`.execute(trx);
    if (numAffectedRows < BigInt(AT_ONCE))
      await trx.deleteFrom('membership_follows').where('user_id', '=', userId).execute();
    return Number(numAffectedRows);
  });
}
