import { text } from '@stagi/contract/text.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback } from '../config/loopback.ts';
import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';
import { createHostReader, nameOf } from '../http/hostOf.ts';
import { escapeHtml } from './html.ts';
import { openMail } from './sealed.ts';

/** Development only: the mails that would have been sent, as JSON and as a page. */
export function mountOutbox(app: FastifyInstance, ctx: Context): void {
  const hostOf = createHostReader(ctx.config);
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    if (!isLoopback(nameOf(hostOf(request.raw))))
      throw new PublicError(421, text('The outbox of development is shown at localhost only'));
  };
  app.post('/dev/mail/list', { onRequest }, async () => ({ mails: await recent(ctx) }));

  app.get('/dev/mail', { onRequest }, async (_request, reply) => {
    const mails = await recent(ctx);
    return reply.type('text/html; charset=utf-8').send(page(mails));
  });
}

interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
  sentAt: string;
}

async function recent(ctx: Context): Promise<Mail[]> {
  const rows = await ctx.db
    .selectFrom('mail')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(100)
    .execute();
  return rows.map((row) => ({
    to: row.recipient,
    ...openMail(ctx, row),
    sentAt: row.created_at.toISOString(),
  }));
}

function page(mails: readonly Mail[]): string {
  const items = mails
    .map(
      (mail) =>
        `<article><h2>${escapeHtml(mail.subject)}</h2><p>to ${escapeHtml(mail.to)} · ${escapeHtml(mail.sentAt)}</p><pre>${escapeHtml(mail.text)}</pre></article>`,
    )
    .join('\n');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Outbox</title>
<style>body{font:15px/1.5 system-ui,sans-serif;max-width:720px;margin:32px auto;padding:0 16px;color-scheme:light dark}article{border-top:1px solid #8884;padding:12px 0}h1{font-size:20px}h2{font-size:16px;margin:0}p{margin:0;opacity:.7}pre{white-space:pre-wrap;font:13px/1.5 ui-monospace,monospace}</style></head>
<body><h1>Outbox</h1><p>No SMTP server is configured: mails are shown here, newest first, and go nowhere.</p>
${items || '<p>No mail yet.</p>'}</body></html>`;
}
