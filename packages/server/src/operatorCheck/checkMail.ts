import type { Config } from '../config/config.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const ABOUT = 'Mail';
const PATIENCE_MS = 10_000;

/** Signs in at the mail server, and sends nothing. */
export async function checkMail(config: Config): Promise<Finding[]> {
  const { smtpUrl, mayMailPlainly, mailFrom, devMail, appOrigin, originIsLoopback } = config;
  if (!smtpUrl) {
    const shown = `mails are shown at ${appOrigin}/dev/mail, and go nowhere`;
    if (devMail && originIsLoopback) return [ok(ABOUT, `no SMTP_URL: ${shown}`)];
    if (devMail) return [warning(ABOUT, `DEV_MAIL="on public": ${shown}. Anybody reads every code there`)];
    return [problem(ABOUT, 'no SMTP_URL: nobody can sign up or recover a password')];
  }
  const { createTransport } = await import('nodemailer');
  const { host } = new URL(smtpUrl);
  const timeouts = { connectionTimeout: PATIENCE_MS, greetingTimeout: PATIENCE_MS, socketTimeout: PATIENCE_MS };
  const transport = createTransport({
    url: smtpUrl,
    requireTLS: !mayMailPlainly,
    dnsTimeout: PATIENCE_MS,
    ...timeouts,
  });
  try {
    await transport.verify();
  } catch (error) {
    return [problem(ABOUT, `${host}: ${reasonOf(error)}. Check SMTP_URL`)];
  } finally {
    transport.close();
  }
  const found = [ok(ABOUT, `${host} takes mails of ${mailFrom}`)];
  if (mailFrom.includes('@localhost')) found.push(warning(ABOUT, 'the sender is at localhost: set MAIL_FROM'));
  return found;
}
