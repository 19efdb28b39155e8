import type { AuthType, SecondFactorMethod } from '@stagi/contract/authResponse.ts';
import { rememberBrowser } from '../attempts/knownBrowsers.ts';
import type { Db } from '../db/schema.ts';
import type { Visitor } from '../http/visitor.ts';
import { newDeviceMail } from '../mail/accountMails.ts';
import { sendMail } from '../mail/send.ts';
import { createSession, type Tokens } from '../sessions/sessions.ts';
import { issueTicket, secondFactorMethodsOf } from './signInTickets.ts';

/** The tokens of a new session, or the ticket with which the second factor is to be submitted. */
export type SignInResult = Tokens | { secondFactor: { ticket: string; methods: SecondFactorMethod[] } };

/**
 * The last step of every sign-in method, after the first factor: opens a session, or issues a ticket for the second
 * factor where the user has set one up.
 */
export async function finishSignIn(ctx: Visitor, trx: Db, userId: number, authType: AuthType): Promise<SignInResult> {
  const methods = await secondFactorMethodsOf(trx, userId);
  if (methods.length > 0) {
    ctx.log.info({ userId, ip: ctx.ip, authType }, 'first factor accepted');
    return { secondFactor: { ticket: await issueTicket(trx, userId, authType), methods } };
  }
  return openSignedInSession(ctx, trx, userId, authType);
}

/** Opens the session after all factors have been verified. Remembers the browser, and mails the owner about a new one. */
export async function openSignedInSession(
  ctx: Visitor,
  trx: Db,
  userId: number,
  authType: AuthType,
  { steppedUp = false }: { steppedUp?: boolean } = {},
): Promise<Tokens> {
  if (await rememberBrowser(ctx, trx, userId)) {
    const user = await trx
      .selectFrom('app_user')
      .select(['email', 'name', 'language'])
      .where('id', '=', userId)
      .executeTakeFirstOrThrow();
    await sendMail(ctx, trx, user.email, newDeviceMail(ctx, user));
  }
  return createSession(ctx, trx, userId, authType, { steppedUp });
}
