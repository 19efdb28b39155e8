import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import type { RunningQueue } from '../jobs/queue.ts';
import type { Loop } from '../loops/repeatEvery.ts';
import type { MailText } from './layout.ts';
import { mailErrorText, mailFailureOf } from './mailFailure.ts';
import { noteMailServerFails, noteMailServerReached } from './mailServer.ts';
import { watchMailServer } from './mailServerCheck.ts';
import { openMail, sealMail } from './sealed.ts';
import { type MailTransport, openMailTransport } from './transport.ts';

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

/**
 * Sends stored mails by SMTP, and watches the mail server. Without SMTP they stay in the outbox, where development reads
 * them.
 */
export async function startMailWorker(
  ctx: Pick<Context, 'config' | 'db' | 'log' | 'secrets'>,
  queue: RunningQueue,
): Promise<Loop | null> {
  const { smtpUrl } = ctx.config;
  if (!smtpUrl) return null;
  const sending = { db: ctx.db, log: ctx.log, secrets: ctx.secrets, config: { smtpUrl } };
  const transport = await openMailTransport(smtpUrl, ctx.config);
  await queue.work('mail.send', ({ mailId }) => sendStored(sending, transport, mailId));
  return watchMailServer(sending, transport);
}

type Sending = Pick<Context, 'db' | 'log' | 'secrets'> & { config: { smtpUrl: string } };

async function sendStored(ctx: Sending, transport: MailTransport, mailId: number): Promise<void> {
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
    const said = mailErrorText(error, ctx.config.smtpUrl);
    await ctx.db
      .updateTable('mail')
      .set({ failed_at: sql<Date>`now()`, last_error: said })
      .where('id', '=', mailId)
      .execute();
    const failure = mailFailureOf(error, ctx.config.smtpUrl);
    if (failure) await noteMailServerFails(ctx, failure);
    // The job keeps its error in the database.
    throw new Error(said, { cause: error });
  }
  await ctx.db
    .updateTable('mail')
    .set({ sent_at: sql<Date>`now()`, failed_at: null, content_sealed: null })
    .where('id', '=', mailId)
    .execute();
  await noteMailServerReached(ctx, { by: 'mail' });
}
