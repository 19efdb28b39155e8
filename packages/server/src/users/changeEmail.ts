import { CODE_TRIES, CODE_TTL_MINUTES } from '@stagi/contract/mailedCodes.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import pg from 'pg';
import { countAttempt, MAIL_BACKOFF, RESEND_BACKOFF } from '../attempts/attempts.ts';
import { rememberAddress } from '../billing/starterCredit.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { addressTakenMail, emailChangedMail, newAddressMail } from '../mail/accountMails.ts';
import { requireMail } from '../mail/mailServer.ts';
import { sendMail } from '../mail/send.ts';
import { hashSecret, verifySecret, withHashingSlot } from '../passwords/hashing.ts';
import { newCode, WRONG_CODE } from '../passwords/mailedCode.ts';
import type { Authenticated } from '../sessions/authenticate.ts';
import { revokeOtherSessions } from '../sessions/sessions.ts';
import { requireSameDomain } from '../signUpLinks/admission.ts';

const UNIQUE_VIOLATION = '23505';

type SignedIn = Visitor & Pick<Authenticated, 'session' | 'user'>;

/**
 * Mails a code to the new address; it replaces an earlier one. An address that already has an account gets the same
 * answer, and a mail that says so.
 */
export async function changeEmail(ctx: SignedIn, { newEmail }: { newEmail: string }): Promise<void> {
  const { user, session } = ctx;
  if (newEmail === user.email) throw invalid(text('A new email must differ from the current one'), 'newEmail');
  requireSameDomain(ctx.config.signUp, user.email, newEmail);
  await requireMail(ctx);
  await withHashingSlot(async () => {
    await countAttempt(ctx, `change-email|${user.id}|${newEmail}`, RESEND_BACKOFF);
    await countAttempt(ctx, `change-email|${user.id}`, MAIL_BACKOFF);
    await countAttempt(ctx, `change-email-to|${newEmail}`, MAIL_BACKOFF);
    const code = newCode();
    const codeHash = await hashSecret(code);
    await inTransaction(ctx.db, async (trx) => {
      const begun = {
        session_id: session.id,
        new_email: newEmail,
        code_hash: codeHash,
        tries: 0,
        expires_at: sql<Date>`now() + ${`${CODE_TTL_MINUTES} minutes`}::interval`,
      };
      await trx
        .insertInto('email_change')
        .values({ user_id: user.id, ...begun })
        .onConflict((conflict) => conflict.column('user_id').doUpdateSet(begun))
        .execute();
      const taken = await trx
        .selectFrom('app_user')
        .select(['name', 'language'])
        .where('email', '=', newEmail)
        .executeTakeFirst();
      await sendMail(ctx, trx, newEmail, taken ? addressTakenMail(ctx, taken) : newAddressMail(ctx, code, user));
    });
  });
}

/** Changes the address with the mailed code, notifies the old one, revokes all other sessions. Returns the new address. */
export function confirmNewEmail(ctx: SignedIn, { code }: { code: string }): Promise<string> {
  const { user, session } = ctx;
  return withHashingSlot(async () => {
    const change = await countTry(ctx);
    const matches = await verifySecret(change?.code_hash ?? null, code);
    if (!change || !matches) throw invalid(WRONG_CODE, 'code');
    return inTransaction(ctx.db, async (trx) => {
      const ended = await trx
        .deleteFrom('email_change')
        .where('user_id', '=', user.id)
        .where('code_hash', '=', change.code_hash)
        .returning('new_email')
        .executeTakeFirst();
      if (!ended || !(await moveAccount(trx, user, ended.new_email))) throw invalid(WRONG_CODE, 'code');
      // Codes mailed to the old address must not work any more.
      await trx.deleteFrom('password_reset').where('user_id', '=', user.id).execute();
      await trx.deleteFrom('step_up_code').where('session_id', '=', session.id).execute();
      await rememberAddress(ctx, trx, user.email);
      await revokeOtherSessions(trx, user.id, session.id, 'address changed');
      await sendMail(ctx, trx, user.email, emailChangedMail(ctx, user));
      return ended.new_email;
    });
  });
}

/** Counts a try before the code is compared, so that parallel guesses are counted one by one. */
async function countTry({ db, user, session }: SignedIn): Promise<{ code_hash: string } | undefined> {
  return db
    .updateTable('email_change')
    .set((row) => ({ tries: row('tries', '+', 1) }))
    .where('user_id', '=', user.id)
    .where('session_id', '=', session.id)
    .where('tries', '<', CODE_TRIES)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('code_hash')
    .executeTakeFirst();
}

/** False when another account has the address by now. */
async function moveAccount(trx: Db, user: Authenticated['user'], newEmail: string): Promise<boolean> {
  try {
    const moved = await trx
      .updateTable('app_user')
      .set({ email: newEmail, email_verified_at: sql<Date>`now()` })
      .where('id', '=', user.id)
      .where('email', '=', user.email)
      .executeTakeFirst();
    return moved.numUpdatedRows > 0n;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION) return false;
    throw error;
  }
}
