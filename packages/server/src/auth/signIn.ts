import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { forgetAttempts, GUESSES, takeAttempt } from './attempts.ts';
import { attemptKey, isDeviceOf } from './devices.ts';
import { type Entered, enter } from './enter.ts';
import { amongHashersOrOwners, hashSecret, isDated, verifySecret } from './passwords.ts';

/** Same words and same time for an unknown address, a wrong password and a disabled account. */
export function signIn(ctx: Visitor, input: { email: string; password: string }): Promise<Entered> {
  return amongHashersOrOwners(isDeviceOf(ctx, input.email), async () => {
    const user = await ctx.db
      .selectFrom('app_user')
      .select(['id', 'password_hash', 'disabled_at'])
      .where('email', '=', input.email)
      .executeTakeFirst();
    const key = await attemptKey(ctx, 'sign-in', input.email, user?.id ?? null);
    await takeAttempt(ctx, key, GUESSES);
    const matches = await verifySecret(user?.password_hash ?? null, input.password);
    if (!user || !matches || user.disabled_at) throw invalid('Incorrect email or password', ['email', 'password']);

    const rehashed = user.password_hash && isDated(user.password_hash) ? await hashSecret(input.password) : null;

    return inTransaction(ctx.db, async (trx) => {
      if (rehashed) await renewHash(trx, user, rehashed);
      await forgetAttempts(trx, key);
      return enter(ctx, trx, user.id, 'email');
    });
  });
}

/** Unless the password was changed meanwhile. */
async function renewHash(trx: Db, user: { id: number; password_hash: string | null }, hash: string): Promise<void> {
  await trx
    .updateTable('app_user')
    .set({ password_hash: hash })
    .where('id', '=', user.id)
    .where('password_hash', '=', user.password_hash)
    .execute();
}
