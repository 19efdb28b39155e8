import { text } from '@stagi/contract/text.ts';
import { countAttempt, GUESS_BACKOFF, resetAttempts } from '../attempts/attempts.ts';
import { attemptKey, knownBrowserCheck } from '../attempts/knownBrowsers.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { hashSecret, needsRehash, verifySecret, withReservedHashingSlot } from '../passwords/hashing.ts';
import { finishSignIn, type SignInResult } from '../secondFactor/finishSignIn.ts';

/** An unknown address, a wrong password and a disabled account get the same answer in the same time. */
export function signIn(ctx: Visitor, input: { email: string; password: string }): Promise<SignInResult> {
  return withReservedHashingSlot(knownBrowserCheck(ctx, input.email), async () => {
    const user = await ctx.db
      .selectFrom('app_user')
      .select(['id', 'password_hash', 'disabled_at'])
      .where('email', '=', input.email)
      .executeTakeFirst();
    ctx.triesAccount(user?.id ?? null);
    const key = await attemptKey(ctx, 'sign-in', input.email, user?.id ?? null);
    await countAttempt(ctx, key, GUESS_BACKOFF);
    const matches = await verifySecret(user?.password_hash ?? null, input.password);
    if (!user || !matches || user.disabled_at)
      throw invalid(text('Incorrect email or password'), ['email', 'password']);

    const rehashed = user.password_hash && needsRehash(user.password_hash) ? await hashSecret(input.password) : null;

    return inTransaction(ctx.db, async (trx) => {
      if (rehashed) await renewHash(trx, user, rehashed);
      await resetAttempts(trx, key);
      return finishSignIn(ctx, trx, user.id, 'email');
    });
  });
}

/** Does nothing if the password was changed meanwhile. */
async function renewHash(trx: Db, user: { id: number; password_hash: string | null }, hash: string): Promise<void> {
  await trx
    .updateTable('app_user')
    .set({ password_hash: hash })
    .where('id', '=', user.id)
    .where('password_hash', '=', user.password_hash)
    .execute();
}
