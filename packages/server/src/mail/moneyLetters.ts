import { LOCALE } from '@stagi/contract/languages.ts';
import type { Config } from '../config.ts';
import type { MailText } from './layout.ts';
import { fill, letter, type Receiver, WORDS } from './letters.ts';
import { onOneLine } from './memberLetters.ts';

interface Kept {
  workspace: string;
  /** Until when what was stopped is kept. */
  until: Date;
}

/** The balance of a workspace has run out: what was stopped, and until when it is kept. */
export const zeroBalanceMail = zeroMail('zero');
/** What is kept will be deleted soon. */
export const zeroReminderMail = zeroMail('zeroSoon');
/** It was deleted. */
export const zeroEndedMail = zeroMail('zeroEnded');

function zeroMail(what: 'zero' | 'zeroSoon' | 'zeroEnded') {
  return (
    { config }: { config: Pick<Config, 'appOrigin'> },
    receiver: Receiver,
    { workspace, until }: Kept,
  ): MailText => {
    const language = receiver.language ?? 'en';
    const words = WORDS[language];
    const date = `${new Intl.DateTimeFormat(LOCALE[language], { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(until)} UTC`;
    const day = new Intl.DateTimeFormat(LOCALE[language], { dateStyle: 'long', timeZone: 'UTC' }).format(until);
    return letter(language, fill(words[what].subject, { workspace: onOneLine(workspace), date: day }), [
      fill(words.hello, { name: receiver.name }),
      fill(words[what].lead, { workspace, date }),
      ...(what === 'zeroEnded' ? [] : [{ facts: [[words.keptUntil, date]] satisfies [string, string][] }]),
      fill(words[what].end, { workspace, date }),
      { link: `${config.appOrigin}/cloud/instances`, label: words.balancePage },
    ]);
  };
}
