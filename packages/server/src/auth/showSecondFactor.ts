import type { PasskeyAssertion, PasskeyRequest } from '@stagi/contract/passkeys.ts';
import { inTransaction } from '../db/pool.ts';
import { invalid, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { factorGuessedMail, type Receiver, recoveryCodeUsedMail } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';
import { forgetAttempts, GUESSES, HOURLY, takeAttempt, tryNow } from './attempts.ts';
import { attemptKey } from './devices.ts';
import { letIn } from './enter.ts';
import { checkFactor, type Shown, wrongFactor } from './factor.ts';
import { askForPasskey, checkPasskey } from './passkeys.ts';
import { spendTicket, takeTicketTry, ticketOf } from './secondFactor.ts';
import type { Tokens } from './sessions.ts';

const TOO_LATE = 'This login has run out. Log in again.';
/** Wrong tries in a row after which the owner hears of them: whoever makes them has passed the first step. */
const WORTH_A_WARNING = 3;

/** Ends a sign-in that asked for a second factor. Guesses are counted as those of passwords are. */
export async function showSecondFactor(
  ctx: Visitor,
  { ticket: text, ...shown }: Shown & { ticket: string },
): Promise<Tokens> {
  const ticket = await ticketOf(ctx.db, text);
  if (!ticket) throw refused(TOO_LATE);
  const { user } = ticket;
  const key = await attemptKey(ctx, 'second-factor', user.email, user.id);
  const tries = await takeAttempt(ctx, key, GUESSES);
  if (!(await takeTicketTry(ctx.db, ticket))) throw refused(TOO_LATE);
  const factor = await checkFactor(ctx, user.id, shown, { purpose: 'second-factor', ticketHash: ticket.hash });
  if (!factor) {
    if (tries >= WORTH_A_WARNING) await warn(ctx, user);
    throw wrongFactor(shown);
  }
  return inTransaction(ctx.db, async (trx) => {
    if (!(await factor.spend(trx))) throw wrongFactor(shown);
    if (!(await spendTicket(trx, ticket))) throw refused(TOO_LATE);
    await forgetAttempts(trx, key);
    if (factor.method === 'recovery-code') await sendMail(ctx, trx, user.email, recoveryCodeUsedMail(ctx, user));
    return letIn(ctx, trx, user.id, ticket.authType, { steppedUp: true });
  });
}

/** At most once an hour: who guesses must not fill the owner's mailbox. */
async function warn(ctx: Visitor, { id, ...user }: Receiver & { id: number; email: string }): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const { taken } = await tryNow({ db: trx }, `second-factor-warning|${id}`, HOURLY);
    if (taken) await sendMail(ctx, trx, user.email, factorGuessedMail(ctx, user));
  });
}

/** A challenge for whoever wants to sign in with a passkey alone, or, with a ticket, beside their password. */
export async function passkeyOptions(
  ctx: Visitor,
  { ticket: text }: { ticket?: string | undefined },
): Promise<PasskeyRequest> {
  if (text === undefined) return askForPasskey(ctx, { purpose: 'sign-in' }, null);
  const ticket = await ticketOf(ctx.db, text);
  if (!ticket) throw refused(TOO_LATE);
  return askForPasskey(ctx, { purpose: 'second-factor', ticketHash: ticket.hash }, ticket.user.id);
}

/** Signs in with a passkey alone: it is something one has, and was opened with something one knows or is. */
export async function signInWithPasskey(ctx: Visitor, { assertion }: { assertion: PasskeyAssertion }): Promise<Tokens> {
  const checked = await checkPasskey(ctx, assertion, { purpose: 'sign-in' });
  if (!checked) throw invalid('This passkey is not accepted here', 'assertion');
  return inTransaction(ctx.db, async (trx) => {
    const user = await trx
      .selectFrom('app_user')
      .select('id')
      .where('id', '=', checked.userId)
      .where('disabled_at', 'is', null)
      .executeTakeFirst();
    if (!user || !(await checked.spend(trx))) throw invalid('This passkey is not accepted here', 'assertion');
    return letIn(ctx, trx, user.id, 'email', { steppedUp: true });
  });
}
