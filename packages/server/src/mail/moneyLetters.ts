import { type Language, LOCALE } from '@stagi/contract/languages.ts';
import type { Config } from '../config.ts';
import type { MailText, Part } from './layout.ts';
import { fill, letter, type Receiver, WORDS } from './letters.ts';
import { onOneLine } from './memberLetters.ts';
import type { Words } from './words/words.ts';

type HereIs = { config: Pick<Config, 'appOrigin'> };

interface Kept {
  workspace: string;
  /** Until when what was stopped is kept. */
  until: Date;
  /** The servers that it is about, by their names. */
  servers: readonly string[];
}

/** The balance of a workspace has run out: what was stopped, until when it is kept, and what could not be kept. */
export function zeroBalanceMail(
  ground: HereIs,
  receiver: Receiver,
  { lost, ...kept }: Kept & { lost: readonly string[] },
): MailText {
  const { words } = of(receiver);
  return zeroMail(ground, receiver, kept, 'zero', [
    ...(lost.length > 0 ? [fill(words.zero.lost, { servers: named(lost) })] : []),
    ...(kept.servers.length > 0 ? keptFacts(receiver, kept) : []),
    kept.servers.length > 0 ? endOf(receiver, kept, 'zero') : words.zero.nothingKept,
  ]);
}

/** What is kept will be deleted soon. */
export const zeroReminderMail = (ground: HereIs, receiver: Receiver, kept: Kept): MailText =>
  zeroMail(ground, receiver, kept, 'zeroSoon', [...keptFacts(receiver, kept), endOf(receiver, kept, 'zeroSoon')]);

/** It was deleted. */
export const zeroEndedMail = (ground: HereIs, receiver: Receiver, kept: Kept): MailText =>
  zeroMail(ground, receiver, kept, 'zeroEnded', [
    { facts: [[of(receiver).words.deletedServers, named(kept.servers)]] },
    endOf(receiver, kept, 'zeroEnded'),
  ]);

type About = 'zero' | 'zeroSoon' | 'zeroEnded';

function zeroMail(
  { config }: HereIs,
  receiver: Receiver,
  { workspace, until }: Kept,
  about: About,
  parts: readonly Part[],
): MailText {
  const { language, words } = of(receiver);
  const subject = fill(words[about].subject, { workspace: onOneLine(workspace), date: dayOf(until, language) });
  return letter(language, subject, [
    fill(words.hello, { name: receiver.name }),
    fill(words[about].lead, { workspace, date: momentOf(until, language) }),
    ...parts,
    { link: `${config.appOrigin}/profile/balance`, label: words.balancePage },
  ]);
}

function keptFacts(receiver: Receiver, { servers, until }: Kept): Part[] {
  const { language, words } = of(receiver);
  return [
    {
      facts: [
        [words.stoppedServers, named(servers)],
        [words.keptUntil, momentOf(until, language)],
      ],
    },
  ];
}

function endOf(receiver: Receiver, { workspace, until }: Kept, about: About): string {
  const { language, words } = of(receiver);
  return fill(words[about].end, { workspace, date: momentOf(until, language) });
}

function of({ language }: Receiver): { language: Language; words: Words } {
  return { language: language ?? 'en', words: WORDS[language ?? 'en'] };
}

const momentOf = (at: Date, language: Language): string =>
  `${new Intl.DateTimeFormat(LOCALE[language], { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(at)} UTC`;

const dayOf = (at: Date, language: Language): string =>
  new Intl.DateTimeFormat(LOCALE[language], { dateStyle: 'long', timeZone: 'UTC' }).format(at);

/** A mail is no list of hundreds. */
const NAMED_MOST = 20;

function named(servers: readonly string[]): string {
  const more = servers.length - NAMED_MOST;
  return [...servers.slice(0, NAMED_MOST).map(onOneLine), ...(more > 0 ? [`+${more}`] : [])].join(', ');
}
