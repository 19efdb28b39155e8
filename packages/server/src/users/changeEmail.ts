import { CODE_TRIES, CODE_TTL_MINUTES } from '@stagi/contract/mailedCodes.ts';
import { sql } from 'kysely';
import pg from 'pg';
import { MAILS, RESENDS, takeAttempt } from '../auth/attempts.ts';
import type { Authenticated } from '../auth/authenticate.ts';
import { newCode, WRONG_CODE } from '../auth/mailedCode.ts';
import { amongHashers, hashSecret, verifySecret } from '../auth/passwords.ts';
import { endOtherSessions } from '../auth/sessions.ts';
import { rememberAddress } from '../billing/accounts.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { addressTakenMail, emailChangedMail, newAddressMail } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';

const UNIQUE_VIOLATION = '23505';

type SignedIn = Visitor & Pick<Authenticated, 'session' | 'user'>;

/**
 * Mails a code to the address that the account is to move to; a later one ends the one before. An address that has an
 * account is answered the same, with a mail that says so to whoever reads it there.
 */
export async function changeEmail(ctx: SignedIn, { newEmail }: { newEmail: string }): Promise<void> {
  const { user, session } = ctx;
  if (newEmail === user.email) throw invalid('A new email must differ from the current one', 'newEmail');
  await amongHashers(async () => {
    await takeAttempt(ctx, `change-email|${user.id}|${newEmail}`, RESENDS);
    await takeAttempt(ctx, `change-email|${user.id}`, MAILS);
    await takeAttempt(ctx, `change-email-to|${newEmail}`, MAILS);
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

/** Moves the account with the mailed code, tells the old address, ends every session but this one. Answers the new address. */
export function confirmNewEmail(ctx: SignedIn, { code }: { code: string }): Promise<string> {
  const { user, session } = ctx;
  return amongHashers(async () => {
    const change = await takeTry(ctx);
    const matches = await verifySecret(change?.code_hash ?? null, code);
    if (!change || !matches) throw invalid(WRONG_CODE, 'code');
    return inTransaction(ctx.db, async (trx) => {
      const ended = await trx
        .deleteFrom('email_change')
        .where('user_id', '=', user.id)
        .where('code_hash', '=', change.code_hash)
        .returning('new_email')
        .executeTakeFirst();
      if (!ended || !(await move(trx, user, ended.new_email))) throw invalid(WRONG_CODE, 'code');
      // Codes that were mailed to the old address would let its reader in.
      await trx.deleteFrom('password_reset').where('user_id', '=', user.id).execute();
      await trx.deleteFrom('step_up_code').where('session_id', '=', session.id).execute();
      await rememberAddress(ctx, trx, user.email);
      await endOtherSessions(trx, user.id, session.id, 'address changed');
      await sendMail(ctx, trx, user.email, emailChangedMail(ctx, user));
      return ended.new_email;
    });
  });
}

/** Counts the try before the code is looked at, so that parallel guesses cannot share one. */
async function takeTry({ db, user, session }: SignedIn): Promise<{ code_hash: string } | undefined> {
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

/** False when somebody has an account with the address by now. */
async function move(trx: Db, user: Authenticated['user'], newEmail: string): Promise<boolean> {
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
