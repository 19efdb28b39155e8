import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import type { RunningQueue } from '../jobs/queue.ts';
import type { MailText } from './layout.ts';
import { openMail, sealMail } from './sealed.ts';

/** The library's default timeouts are minutes; a job has one minute. */
const PATIENCE = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, dnsTimeout: 10_000 };

interface Addressed {
  recipient: string;
  mail: MailText;
}

/** Stores a mail and, where there is SMTP, the job that sends it, in the transaction of `trx`. */
export async function sendMail(
  ctx: Pick<Context, 'config' | 'jobs' | 'secrets'>,
  trx: Db,
  recipient: string,
  mail: MailText,
): Promise<void> {
  await sendMails(ctx, trx, [{ recipient, mail }]);
}

const STORED_AT_ONCE = 500;

/** The same for many mails. */
export async function sendMails(
  ctx: Pick<Context, 'config' | 'jobs' | 'secrets'>,
  trx: Db,
  mails: readonly Addressed[],
): Promise<void> {
  for (let from = 0; from < mails.length; from += STORED_AT_ONCE) {
    const rows = await trx
      .insertInto('mail')
      .values(
        mails
          .slice(from, from + STORED_AT_ONCE)
          .map(({ recipient, mail }) => ({ recipient, content_sealed: sealMail(ctx, recipient, mail) })),
      )
      .returning('id')
      .execute();
    // Without SMTP a job would wait for ever; the development outbox reads the stored mail.
    if (ctx.config.smtpUrl) for (const { id } of rows) await ctx.jobs.enqueue(trx, 'mail.send', { mailId: id });
  }
}

/** Sends stored mails by SMTP. Without SMTP they stay in the outbox, where development reads them. */
export async function startMailWorker(
  ctx: Pick<Context, 'config' | 'db' | 'secrets'>,
  queue: RunningQueue,
): Promise<void> {
  if (!ctx.config.smtpUrl) return;
  const { createTransport } = await import('nodemailer');
  const transport = createTransport(
    { url: ctx.config.smtpUrl, requireTLS: !ctx.config.mayMailPlainly, ...PATIENCE },
    { from: ctx.config.mailFrom },
  );
  await queue.work('mail.send', async ({ mailId }) => {
    const mail = await ctx.db
      .selectFrom('mail')
      .selectAll()
      .where('id', '=', mailId)
      .where('sent_at', 'is', null)
      .executeTakeFirst();
    if (!mail) return;
    try {
      await transport.sendMail({
        to: mail.recipient,
        ...openMail(ctx, mail),
        messageId: `<mail-${mail.id}@stagi>`,
      });
    } catch (error) {
      await ctx.db
        .updateTable('mail')
        .set({ failed_at: sql<Date>`now()`, last_error: String(error) })
        .where('id', '=', mailId)
        .execute();
      throw error;
    }
    await ctx.db
      .updateTable('mail')
      .set({ sent_at: sql<Date>`now()`, failed_at: null, content_sealed: null })
      .where('id', '=', mailId)
      .execute();
  });
}
