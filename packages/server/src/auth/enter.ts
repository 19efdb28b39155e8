import type { AuthType, SecondFactorMethod } from '@stagi/contract/authResponse.ts';
import type { Db } from '../db/schema.ts';
import type { Visitor } from '../http/visitor.ts';
import { newDeviceMail } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';
import { rememberDevice } from './devices.ts';
import { issueTicket, methodsOf } from './secondFactor.ts';
import { openSession, type Tokens } from './sessions.ts';

/** A session, or what to ask its second factor with. */
export type Entered = Tokens | { secondFactor: { ticket: string; methods: SecondFactorMethod[] } };

/**
 * The end of every way in, once the first factor has been shown: opens a session, or asks for the second factor of
 * somebody who has set one up. The browser is remembered, and its owner told of a new one, when the session opens.
 */
export async function enter(ctx: Visitor, trx: Db, userId: number, authType: AuthType): Promise<Entered> {
  const methods = await methodsOf(trx, userId);
  if (methods.length > 0) return { secondFactor: { ticket: await issueTicket(trx, userId, authType), methods } };
  return letIn(ctx, trx, userId, authType);
}

/** Opens the session of somebody who has shown all that is asked of them. */
export async function letIn(
  ctx: Visitor,
  trx: Db,
  userId: number,
  authType: AuthType,
  { steppedUp = false }: { steppedUp?: boolean } = {},
): Promise<Tokens> {
  if (await rememberDevice(ctx, trx, userId)) {
    const user = await trx
      .selectFrom('app_user')
      .select(['email', 'name', 'language'])
      .where('id', '=', userId)
      .executeTakeFirstOrThrow();
    await sendMail(ctx, trx, user.email, newDeviceMail(ctx, user));
  }
  return openSession(ctx, trx, userId, authType, { steppedUp });
}
