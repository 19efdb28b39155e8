import { randomUUID } from 'node:crypto';
import { CODE_TRIES, CODE_TTL_MINUTES } from '@stagi/contract/mailedCodes.ts';
import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { noAccountMail, resetCodeMail } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';
import { networkOf } from './addressLimit.ts';
import { forgetAttempts, MAILS, RESENDS, takeAttempt } from './attempts.ts';
import { setPassword } from './changePassword.ts';
import { refuseCommon } from './commonPasswords.ts';
import { isDeviceOf, isKnownDevice } from './devices.ts';
import { dropUnverified } from './dropUnverified.ts';
import { type Entered, enter } from './enter.ts';
import { newCode, newFlow, WRONG_CODE } from './mailedCode.ts';
import { amongHashersOrOwners, hashSecret, verifySecret } from './passwords.ts';

/**
 * Mails a code for a new password. Whoever the address belongs to, the answer is the same and so is the work: an
 * address that nobody has gets a mail that says so.
 */
export function resetPasswordCode(ctx: Visitor, { email }: { email: string }): Promise<{ flow: string }> {
  return amongHashersOrOwners(isDeviceOf(ctx, email), async () => {
    const user = await ctx.db
      .selectFrom('app_user')
      .select(['id', 'name', 'language'])
      .where('email', '=', email)
      .where('disabled_at', 'is', null)
      .executeTakeFirst();
    // Strangers who ask for somebody's codes do not keep their owner from asking.
    const isOwners = await isKnownDevice(ctx, user?.id ?? null);
    await takeAttempt(ctx, resendKey(ctx, email), RESENDS);
    await takeAttempt(ctx, isOwners ? ownMailsKey(ctx.device, email) : `reset|${email}`, MAILS);
    const code = newCode();
    const codeHash = await hashSecret(code);
    const flow = newFlow();
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

/** Ends a recovery: the new password, no session but the one that begins here (after the second factor, where there is one). */
export async function resetPassword(
  ctx: Visitor,
  input: { email: string; code: string; newPassword: string; flow?: string },
): Promise<Entered> {
  refuseCommon(input.newPassword, 'newPassword');
  return amongHashersOrOwners(isDeviceOf(ctx, input.email), async () => {
    const reset = await takeTry(ctx.db, input);
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
      throw invalid('A new password must differ from the current one', 'newPassword');
    }
    const passwordHash = await hashSecret(input.newPassword);
    return inTransaction(ctx.db, async (trx) => {
      const ended = await trx
        .deleteFrom('password_reset')
        .where('id', '=', reset.id)
        .returning('id')
        .executeTakeFirst();
      if (!ended) throw invalid(WRONG_CODE, 'code');
      // The mailed code has shown whose address it is.
      if (user.email_verified_at === null) await dropUnverified(trx, userId);
      await setPassword(ctx, trx, userId, passwordHash, { by: 'reset', keepSession: null });
      await forgetAttempts(trx, resendKey(ctx, input.email));
      if (ctx.device) await forgetAttempts(trx, ownMailsKey(ctx.device, input.email));
      await forgetAttempts(trx, `sign-in|${input.email}`);
      return enter(ctx, trx, userId, 'email');
    });
  });
}

/** The mails that somebody asks for from a browser of their own: strangers take none of these. */
const ownMailsKey = (device: string | null, email: string): string => `reset|${email}|${device}`;
const resendKey = (ctx: Visitor, email: string): string => `resend|${email}|${networkOf(ctx.ip)}`;

/**
 * Counts the try before the code is looked at, so that parallel guesses cannot share one. Who does not name the flow
 * leaves five tries to whoever can.
 */
async function takeTry(db: Db, { email, flow }: { email: string; flow?: string }) {
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
