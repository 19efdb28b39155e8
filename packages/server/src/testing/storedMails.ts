import type { Context } from '../context.ts';
import type { MailText } from '../mail/layout.ts';
import { openMail } from '../mail/sealed.ts';

/** Mails to an address, sent or not, newest first. */
export async function storedMails(ctx: Pick<Context, 'db' | 'secrets'>, email: string): Promise<MailText[]> {
  const rows = await ctx.db
    .selectFrom('mail')
    .selectAll()
    .where('recipient', '=', email)
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => openMail(ctx, row));
}

/** Their subjects, oldest first. */
export async function storedSubjects(ctx: Pick<Context, 'db' | 'secrets'>, email: string): Promise<string[]> {
  return (await storedMails(ctx, email)).map(({ subject }) => subject).reverse();
}
