import type { Transporter } from 'nodemailer';
import type { Config } from '../config/config.ts';

/** The library's default timeouts are minutes; a job has one minute. */
const PATIENCE = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, dnsTimeout: 10_000 };

export type MailTransport = Pick<Transporter, 'sendMail' | 'verify' | 'close'>;

export async function openMailTransport(
  smtpUrl: string,
  { mayMailPlainly, mailFrom }: Pick<Config, 'mayMailPlainly' | 'mailFrom'>,
): Promise<MailTransport> {
  // Imported late: a process without SMTP does not need it.
  const { createTransport } = await import('nodemailer');
  return createTransport({ url: smtpUrl, requireTLS: !mayMailPlainly, ...PATIENCE }, { from: mailFrom });
}
