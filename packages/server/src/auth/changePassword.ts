import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { passwordAddedMail, passwordChangedMail } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';
import { forgetAttempts, GUESSES, takeAttempt } from './attempts.ts';
import type { SignedIn } from './authenticate.ts';
import { refuseCommon } from './commonPasswords.ts';
import { forgetDevices, rememberDevice } from './devices.ts';
import { amongHashers, hashSecret, verifySecret } from './passwords.ts';
import { endOtherSessions } from './sessions.ts';

/** Replaces the own password; every session but this one ends. Guesses of the current one are counted as at sign-in. */
export async function changePassword(
  ctx: SignedIn,
  input: { currentPassword: string; newPassword: string },
): Promise<void> {
  const current = await passwordOf(ctx);
  if (!current) throw refused('Your account has no password yet');
  refuseCommon(input.newPassword, 'newPassword');
  await amongHashers(async () => {
    const key = `change-password|${ctx.user.id}`;
    await takeAttempt(ctx, key, GUESSES);
    if (!(await verifySecret(current, input.currentPassword))) throw invalid('Incorrect password', 'currentPassword');
    if (input.newPassword === input.currentPassword) {
      throw invalid('A new password must differ from the current one', 'newPassword');
    }
    const passwordHash = await hashSecret(input.newPassword);
    await inTransaction(ctx.db, async (trx) => {
      await forgetAttempts(trx, key);
      await setPassword(ctx, trx, ctx.user.id, passwordHash, { by: 'change', keepSession: ctx.session.id });
      await rememberDevice(ctx, trx, ctx.user.id);
    });
  });
}

/** Gives an account that came by Google or GitHub its first password. */
export async function addPassword(ctx: SignedIn, { password }: { password: string }): Promise<void> {
  if (await passwordOf(ctx)) throw refused('Your account has a password already');
  refuseCommon(password, 'password');
  await amongHashers(async () => {
    const passwordHash = await hashSecret(password);
    await inTransaction(ctx.db, async (trx) => {
      const added = await trx
        .updateTable('app_user')
        .set({ password_hash: passwordHash })
        .where('id', '=', ctx.user.id)
        .where('password_hash', 'is', null)
        .returning(['email', 'name', 'language'])
        .executeTakeFirst();
      if (!added) throw refused('Your account has a password already');
      await sendMail(ctx, trx, added.email, passwordAddedMail(ctx, added));
    });
  });
}

/** Writes a new password, ends the other sessions, makes every browser a stranger and tells the owner by mail. */
export async function setPassword(
  ctx: Visitor,
  trx: Db,
  userId: number,
  passwordHash: string,
  { by, keepSession }: { by: 'reset' | 'change'; keepSession: string | null },
): Promise<void> {
  const user = await trx
    .updateTable('app_user')
    .set({ password_hash: passwordHash })
    .where('id', '=', userId)
    .returning(['email', 'name', 'language'])
    .executeTakeFirstOrThrow();
  // Codes that are still under way would undo it, and whoever got half way in did so with the old one.
  await trx.deleteFrom('password_reset').where('user_id', '=', userId).execute();
  await trx.deleteFrom('second_factor_ticket').where('user_id', '=', userId).execute();
  await endOtherSessions(trx, userId, keepSession, `password ${by}`);
  await forgetDevices(trx, userId);
  await sendMail(ctx, trx, user.email, passwordChangedMail(ctx, user));
}

async function passwordOf({ db, user }: SignedIn): Promise<string | null> {
  const row = await db.selectFrom('app_user').select('password_hash').where('id', '=', user.id).executeTakeFirst();
  return row?.password_hash ?? null;
}
