import type { Db } from '../db/schema.ts';
import type { MailText } from '../mail/layout.ts';
import type { Ground, Receiver } from '../mail/letters.ts';
import { sendMail } from '../mail/send.ts';
import type { SignedIn } from './authenticate.ts';

/** Mails the person of a session what was done to their account, so that they notice when it was somebody else. */
export async function tellOwner(
  ctx: SignedIn,
  trx: Db,
  letter: (ground: Ground, receiver: Receiver) => MailText,
): Promise<void> {
  await sendMail(ctx, trx, ctx.user.email, letter(ctx, ctx.user));
}
