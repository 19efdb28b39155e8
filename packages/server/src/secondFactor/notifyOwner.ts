import type { Db } from '../db/schema.ts';
import type { MailContext, Receiver } from '../mail/accountMails.ts';
import type { MailText } from '../mail/layout.ts';
import { sendMail } from '../mail/send.ts';
import type { SignedIn } from '../sessions/authenticate.ts';

/** Mails the user what was changed in their account, so that they notice when it was somebody else. */
export async function notifyOwner(
  ctx: SignedIn,
  trx: Db,
  letter: (ground: MailContext, receiver: Receiver) => MailText,
): Promise<void> {
  await sendMail(ctx, trx, ctx.user.email, letter(ctx, ctx.user));
}
