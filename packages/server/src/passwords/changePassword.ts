import { text } from '@stagi/contract/text.ts';
import { countAttempt, GUESS_BACKOFF, resetAttempts } from '../attempts/attempts.ts';
import { forgetBrowsers, rememberBrowser } from '../attempts/knownBrowsers.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { passwordAddedMail, passwordChangedMail } from '../mail/accountMails.ts';
import { sendMail } from '../mail/send.ts';
import type { SignedIn } from '../sessions/authenticate.ts';
import { revokeOtherSessions } from '../sessions/sessions.ts';
import { refuseCommonPassword } from './commonPasswords.ts';
import { hashSecret, verifySecret, withHashingSlot } from './hashing.ts';

/** Changes the user's own password and revokes their other sessions. Wrong guesses of the current one are rate limited. */
export async function changePassword(
  ctx: SignedIn,
  input: { currentPassword: string; newPassword: string },
): Promise<void> {
  const current = await passwordOf(ctx);
  if (!current) throw refused(text('Your account has no password yet'));
  refuseCommonPassword(input.newPassword, 'newPassword');
  await withHashingSlot(async () => {
    ctx.triesAccount(ctx.user.id);
    const key = `change-password|${ctx.user.id}`;
    await countAttempt(ctx, key, GUESS_BACKOFF);
    if (!(await verifySecret(current, input.currentPassword)))
      throw invalid(text('Incorrect password'), 'currentPassword');
    if (input.newPassword === input.currentPassword) {
      throw invalid(text('A new password must differ from the current one'), 'newPassword');
    }
    const passwordHash = await hashSecret(input.newPassword);
    await inTransaction(ctx.db, async (trx) => {
      await resetAttempts(trx, key);
      await setPassword(ctx, trx, ctx.user.id, passwordHash, { by: 'change', keepSession: ctx.session.id });
      await rememberBrowser(ctx, trx, ctx.user.id);
    });
  });
}

/** Adds the first password to an account that was created through Google or GitHub. */
export async function addPassword(ctx: SignedIn, { password }: { password: string }): Promise<void> {
  if (await passwordOf(ctx)) throw refused(text('Your account already has a password'));
  refuseCommonPassword(password, 'password');
  await withHashingSlot(async () => {
    const passwordHash = await hashSecret(password);
    await inTransaction(ctx.db, async (trx) => {
      const added = await trx
        .updateTable('app_user')
        .set({ password_hash: passwordHash })
        .where('id', '=', ctx.user.id)
        .where('password_hash', 'is', null)
        .returning(['email', 'name', 'language'])
        .executeTakeFirst();
      if (!added) throw refused(text('Your account already has a password'));
      await sendMail(ctx, trx, added.email, passwordAddedMail(ctx, added));
    });
  });
}

/** Stores a new password, revokes the other sessions, forgets known browsers and notifies the owner by mail. */
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
  // Unused reset codes would undo the change; sign-ins that wait for a second factor began with the old password.
  await trx.deleteFrom('password_reset').where('user_id', '=', userId).execute();
  await trx.deleteFrom('second_factor_ticket').where('user_id', '=', userId).execute();
  await revokeOtherSessions(trx, userId, keepSession, `password ${by}`);
  await forgetBrowsers(trx, userId);
  await sendMail(ctx, trx, user.email, passwordChangedMail(ctx, user));
}

async function passwordOf({ db, user }: SignedIn): Promise<string | null> {
  const row = await db.selectFrom('app_user').select('password_hash').where('id', '=', user.id).executeTakeFirst();
  return row?.password_hash ?? null;
}
