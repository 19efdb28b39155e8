import { inTransaction } from '../db/pool.ts';
import { invalid } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { newDeviceMail } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';
import { forgetAttempts, GUESSES, takeAttempt } from './attempts.ts';
import { attemptKey, rememberDevice } from './devices.ts';
import { amongHashers, verifySecret } from './passwords.ts';
import { openSession, type Tokens } from './sessions.ts';

/** Same words and same time for an unknown address, a wrong password and a disabled account. */
export function signIn(ctx: Visitor, input: { email: string; password: string }): Promise<Tokens> {
  return amongHashers(async () => {
    const user = await ctx.db
      .selectFrom('app_user')
      .select(['id', 'email', 'name', 'language', 'password_hash', 'disabled_at'])
      .where('email', '=', input.email)
      .executeTakeFirst();
    const key = await attemptKey(ctx, 'sign-in', input.email, user?.id ?? null);
    await takeAttempt(ctx, key, GUESSES);
    const matches = await verifySecret(user?.password_hash ?? null, input.password);
    if (!user || !matches || user.disabled_at) throw invalid('Incorrect email or password', ['email', 'password']);

    return inTransaction(ctx.db, async (trx) => {
      await forgetAttempts(trx, key);
      const isNew = await rememberDevice(ctx, trx, user.id);
      if (isNew) await sendMail(ctx, trx, user.email, newDeviceMail(ctx, user));
      return openSession(ctx, trx, user.id, 'email');
    });
  });
}
