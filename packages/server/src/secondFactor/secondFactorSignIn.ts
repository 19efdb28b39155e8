import type { PasskeyAssertion, PasskeyRequest } from '@stagi/contract/passkeys.ts';
import { text } from '@stagi/contract/text.ts';
import { countAttempt, GUESS_BACKOFF, HOURLY_WAIT, resetAttempts, tryAttempt } from '../attempts/attempts.ts';
import { attemptKey } from '../attempts/knownBrowsers.ts';
import { inTransaction } from '../db/pool.ts';
import { invalid, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { factorGuessedMail, type Receiver, recoveryCodeUsedMail } from '../mail/accountMails.ts';
import { sendMail } from '../mail/send.ts';
import type { Tokens } from '../sessions/sessions.ts';
import { checkFactor, type FactorProof, wrongFactorError } from './checkFactor.ts';
import { openSignedInSession } from './finishSignIn.ts';
import { passkeyRequest, verifyPasskey } from './passkeys.ts';
import { consumeTicket, countTicketTry, findTicket } from './signInTickets.ts';

const TOO_LATE = text('This login has expired. Log in again.');
/** Wrong tries in a row after which the owner is warned: somebody has their password. */
const TRIES_BEFORE_WARNING = 3;

/** Completes a sign-in that asked for a second factor. Guesses are rate limited like those of passwords. */
export async function verifySecondFactor(
  ctx: Visitor,
  { ticket: text, ...proof }: FactorProof & { ticket: string },
): Promise<Tokens> {
  const ticket = await findTicket(ctx.db, text);
  ctx.triesAccount(ticket?.user.id ?? null);
  if (!ticket) throw refused(TOO_LATE);
  const { user } = ticket;
  const key = await attemptKey(ctx, 'second-factor', user.email, user.id);
  const tries = await countAttempt(ctx, key, GUESS_BACKOFF);
  if (!(await countTicketTry(ctx.db, ticket))) throw refused(TOO_LATE);
  const factor = await checkFactor(ctx, user.id, proof, { purpose: 'second-factor', ticketHash: ticket.hash });
  if (!factor) {
    if (tries >= TRIES_BEFORE_WARNING) await warnOfGuesses(ctx, user);
    throw wrongFactorError(proof);
  }
  return inTransaction(ctx.db, async (trx) => {
    if (!(await factor.consume(trx))) throw wrongFactorError(proof);
    if (!(await consumeTicket(trx, ticket))) throw refused(TOO_LATE);
    await resetAttempts(trx, key);
    if (factor.method === 'recovery-code') await sendMail(ctx, trx, user.email, recoveryCodeUsedMail(ctx, user));
    return openSignedInSession(ctx, trx, user.id, ticket.authType, { steppedUp: true });
  });
}

/** At most once an hour, so that guessing does not fill the owner's mailbox. */
async function warnOfGuesses(ctx: Visitor, { id, ...user }: Receiver & { id: number; email: string }): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const { taken } = await tryAttempt({ db: trx }, `second-factor-warning|${id}`, HOURLY_WAIT);
    if (taken) await sendMail(ctx, trx, user.email, factorGuessedMail(ctx, user));
  });
}

/** Options to sign in with a passkey alone or, with a ticket, to use one as the second factor. */
export async function passkeyOptions(
  ctx: Visitor,
  { ticket: text }: { ticket?: string | undefined },
): Promise<PasskeyRequest> {
  if (text === undefined) return passkeyRequest(ctx, { purpose: 'sign-in' }, null);
  const ticket = await findTicket(ctx.db, text);
  if (!ticket) throw refused(TOO_LATE);
  return passkeyRequest(ctx, { purpose: 'second-factor', ticketHash: ticket.hash }, ticket.user.id);
}

/** Signs in with a passkey alone: it counts as two factors, as its device has verified the user. */
export async function signInWithPasskey(ctx: Visitor, { assertion }: { assertion: PasskeyAssertion }): Promise<Tokens> {
  const checked = await verifyPasskey(ctx, assertion, { purpose: 'sign-in' });
  ctx.triesAccount(checked?.userId ?? null);
  if (!checked) throw invalid(text('This passkey is not accepted here'), 'assertion');
  return inTransaction(ctx.db, async (trx) => {
    const user = await trx
      .selectFrom('app_user')
      .select('id')
      .where('id', '=', checked.userId)
      .where('disabled_at', 'is', null)
      .executeTakeFirst();
    if (!user || !(await checked.consume(trx))) throw invalid(text('This passkey is not accepted here'), 'assertion');
    return openSignedInSession(ctx, trx, user.id, 'email', { steppedUp: true });
  });
}
