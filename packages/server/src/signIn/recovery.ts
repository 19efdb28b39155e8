import { randomUUID } from 'node:crypto';
import { CODE_TRIES, CODE_TTL_MINUTES } from '@stagi/contract/mailedCodes.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { countAttempt, MAIL_BACKOFF, RESEND_BACKOFF, resetAttempts } from '../attempts/attempts.ts';
import { isKnownBrowser, knownBrowserCheck } from '../attempts/knownBrowsers.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import { networkOf } from '../http/network.ts';
import type { Visitor } from '../http/visitor.ts';
import { resetUnverifiedAccount } from '../identities/resetUnverifiedAccount.ts';
import { noAccountMail, resetCodeMail } from '../mail/accountMails.ts';
import { requireMail } from '../mail/mailServer.ts';
import { sendMail } from '../mail/send.ts';
import { setPassword } from '../passwords/changePassword.ts';
import { refuseCommonPassword } from '../passwords/commonPasswords.ts';
import { hashSecret, verifySecret, withReservedHashingSlot } from '../passwords/hashing.ts';
import { newCode, newFlowId, WRONG_CODE } from '../passwords/mailedCode.ts';
import { finishSignIn, type SignInResult } from '../secondFactor/finishSignIn.ts';

/**
 * Mails a code for a password reset. An unknown address gets the same answer in the same time, and a mail that says that
 * it has no account.
 */
export async function resetPasswordCode(ctx: Visitor, { email }: { email: string }): Promise<{ flow: string }> {
  await requireMail(ctx);
  return withReservedHashingSlot(knownBrowserCheck(ctx, email), async () => {
    const user = await ctx.db
      .selectFrom('app_user')
      .select(['id', 'name', 'language'])
      .where('email', '=', email)
      .where('disabled_at', 'is', null)
      .executeTakeFirst();
    // A known browser has its own limit: strangers who request codes cannot lock the owner out.
    const isOwners = await isKnownBrowser(ctx, user?.id ?? null);
    await countAttempt(ctx, resendKey(ctx, email), RESEND_BACKOFF);
    await countAttempt(ctx, isOwners ? ownMailsKey(ctx.browserToken, email) : `reset|${email}`, MAIL_BACKOFF);
    const code = newCode();
    const codeHash = await hashSecret(code);
    const flow = newFlowId();
    await inTransaction(ctx.db, async (trx) => {
      await trx
        .insertInto('password_reset')
        .values({
          id: randomUUID(),
          flow,
          email,
          user_id: user?.id ?? null,
          code_hash: codeHash,
          expires_at: sql<Date>`now() + ${`${CODE_TTL_MINUTES} minutes`}::interval`,
        })
        .execute();
      await sendMail(ctx, trx, email, user ? resetCodeMail(ctx, code, user) : noAccountMail(ctx));
    });
    return { flow };
  });
}

/** Completes a password reset: sets the password, revokes all sessions and signs in (with the second factor, if there is one). */
export async function resetPassword(
  ctx: Visitor,
  input: { email: string; code: string; newPassword: string; flow?: string },
): Promise<SignInResult> {
  refuseCommonPassword(input.newPassword, 'newPassword');
  return withReservedHashingSlot(knownBrowserCheck(ctx, input.email), async () => {
    const reset = await countTry(ctx.db, input);
    ctx.triesAccount(reset?.user_id ?? null);
    const matches = await verifySecret(reset?.code_hash ?? null, input.code);
    if (!reset || !matches || reset.user_id === null) throw invalid(WRONG_CODE, 'code');
    const userId = reset.user_id;
    const user = await ctx.db
      .selectFrom('app_user')
      .select(['password_hash', 'email_verified_at'])
      .where('id', '=', userId)
      .where('email', '=', input.email)
      .where('disabled_at', 'is', null)
      .executeTakeFirst();
    if (!user) throw invalid(WRONG_CODE, 'code');
    if (await verifySecret(user.password_hash, input.newPassword)) {
      throw invalid(text('A new password must differ from the current one'), 'newPassword');
    }
    const passwordHash = await hashSecret(input.newPassword);
    return inTransaction(ctx.db, async (trx) => {
      const ended = await trx
        .deleteFrom('password_reset')
        .where('id', '=', reset.id)
        .returning('id')
        .executeTakeFirst();
      if (!ended) throw invalid(WRONG_CODE, 'code');
      // The mailed code confirms the address.
      if (user.email_verified_at === null) await resetUnverifiedAccount(trx, userId);
      await setPassword(ctx, trx, userId, passwordHash, { by: 'reset', keepSession: null });
      await resetAttempts(trx, resendKey(ctx, input.email));
      if (ctx.browserToken) await resetAttempts(trx, ownMailsKey(ctx.browserToken, input.email));
      await resetAttempts(trx, `sign-in|${input.email}`);
      return finishSignIn(ctx, trx, userId, 'email');
    });
  });
}

/** Counts the mails requested from a known browser. */
const ownMailsKey = (browserToken: string | null, email: string): string => `reset|${email}|${browserToken}`;
const resendKey = (ctx: Visitor, email: string): string => `resend|${email}|${networkOf(ctx.ip)}`;

/**
 * Counts a try before the code is compared, so that parallel guesses are counted one by one. Tries without the flow's
 * id are counted apart, so that strangers leave five tries to the owner.
 */
async function countTry(db: Db, { email, flow }: { email: string; flow?: string }) {
  const counted = flow
    ? sql`tries = tries + 1 where tries < ${CODE_TRIES}`
    : sql`stranger_tries = stranger_tries + 1 where tries + stranger_tries < ${CODE_TRIES}`;
  const { rows } = await sql<{ id: string; user_id: number | null; code_hash: string }>`
    update password_reset set ${counted} and id = (
      select id from password_reset
      where email = ${email} and expires_at > now() and (${flow ?? null}::text is null or flow = ${flow ?? null})
      order by created_at desc limit 1)
    returning id, user_id, code_hash`.execute(db);
  return rows[0];
}
