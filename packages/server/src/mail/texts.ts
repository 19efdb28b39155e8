import { BRAND } from '@stagi/contract/brand.ts';
import { CODE_TTL_MINUTES } from '@stagi/contract/mailedCodes.ts';
import { escapeHtml } from './html.ts';

export interface MailText {
  subject: string;
  text: string;
  html: string;
}

export function codeMail(code: string, name: string): MailText {
  const subject = `${code} is your ${BRAND} confirmation code`;
  return layout(subject, [
    `Hello ${name},`,
    `enter this code to finish your sign-up. It is valid for ${CODE_TTL_MINUTES} minutes.`,
    { code },
    'If you did not sign up, ignore this mail: without the code nothing happens.',
  ]);
}

export function alreadyRegisteredMail(origin: string): MailText {
  return layout(`You already have a ${BRAND} account`, [
    'Hello,',
    'somebody, probably you, tried to sign up with this address. It has an account already.',
    { link: `${origin}/sign-in`, label: 'Log in' },
    'If it was not you, there is nothing to do.',
  ]);
}

/** A used refresh token came back: it is in two hands, and nobody knows which are the owner's. */
export function sessionEndedMail(origin: string): MailText {
  return layout(`We ended one of your ${BRAND} sessions`, [
    'Hello,',
    'a key of one of your sessions was used twice, as happens when somebody has copied it. To be safe we ended that session: whoever used it has to log in again.',
    { link: `${origin}/profile/account/sessions`, label: 'Look at your sessions' },
    'If you see a device there that is not yours, end its session and change your password.',
  ]);
}

type Part = string | { code: string } | { link: string; label: string };

function layout(subject: string, parts: Part[]): MailText {
  const text = parts
    .map((part) => (typeof part === 'string' ? part : 'code' in part ? part.code : `${part.label}: ${part.link}`))
    .join('\n\n');
  const html = parts
    .map((part) => {
      if (typeof part === 'string') return `<p>${escapeHtml(part)}</p>`;
      if ('code' in part)
        return `<p style="font:600 28px/1.4 ui-monospace,monospace;letter-spacing:4px">${escapeHtml(part.code)}</p>`;
      return `<p><a href="${escapeHtml(part.link)}">${escapeHtml(part.label)}</a></p>`;
    })
    .join('\n');
  return {
    subject,
    text: `${text}\n\n${BRAND}\n`,
    html: `<!doctype html><html><body style="font:16px/1.5 system-ui,sans-serif;color:#1c1e26;max-width:560px;margin:32px auto;padding:0 16px">
<p style="font-weight:600">${BRAND}</p>
${html}
</body></html>`,
  };
}
