import type { Config } from '../config/config.ts';
import { mailErrorText } from '../mail/mailFailure.ts';
import { openMailTransport } from '../mail/transport.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const ABOUT = 'Mail';

/** Signs in at the mail server, and sends nothing. */
export async function checkMail(config: Config): Promise<Finding[]> {
  const { smtpUrl, mailFrom, devMail, appOrigin, isOfThisMachine } = config;
  if (!smtpUrl) {
    const shown = `mails are shown at ${appOrigin}/dev/mail, and go nowhere`;
    if (devMail && isOfThisMachine) return [ok(ABOUT, `no SMTP_URL: ${shown}`)];
    if (devMail) return [warning(ABOUT, `DEV_MAIL="on public": ${shown}. Anybody reads every code there`)];
    return [problem(ABOUT, 'no SMTP_URL: nobody can sign up or recover a password')];
  }
  const { host } = new URL(smtpUrl);
  const transport = await openMailTransport(smtpUrl, config);
  try {
    await transport.verify();
  } catch (error) {
    return [problem(ABOUT, `${host}: ${mailErrorText(error, smtpUrl)}. Check SMTP_URL`)];
  } finally {
    transport.close();
  }
  const found = [ok(ABOUT, `${host} answers; mails come from ${mailFrom}`)];
  if (mailFrom.includes('@localhost')) found.push(warning(ABOUT, 'the sender is at localhost: set MAIL_FROM'));
  return found;
}
