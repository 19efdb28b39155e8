import type { Language } from '@stagi/contract/languages.ts';
import type { Config } from '../config/config.ts';
import { composeText, fill, type Receiver, WORDS } from './accountMails.ts';
import type { MailText, Part } from './layout.ts';
import { onOneLine } from './memberMails.ts';
import { utcDay, utcMoment } from './utcTime.ts';
import type { Words } from './words/words.ts';

type HereIs = { config: Pick<Config, 'appOrigin'> };

interface ZeroBalance {
  workspace: string;
  /** Stopped servers and storages are kept until then. */
  until: Date;
  /** Names. */
  servers: readonly string[];
  storages: readonly string[];
}

/** The balance of a workspace has run out: what was stopped, until when it is kept, and what could not be kept. */
export function zeroBalanceMail(
  ctx: HereIs,
  receiver: Receiver,
  { lost, ...kept }: ZeroBalance & { lost: readonly string[] },
): MailText {
  const { words } = of(receiver);
  const isSomeKept = kept.servers.length + kept.storages.length > 0;
  return zeroMail(ctx, receiver, kept, 'zero', [
    ...(lost.length > 0 ? [fill(words.zero.lost, { servers: named(lost) })] : []),
    ...(isSomeKept ? keptFacts(receiver, kept) : []),
    isSomeKept ? endOf(receiver, kept, 'zero') : words.zero.nothingKept,
  ]);
}

/** What is kept will be deleted soon. */
export const zeroReminderMail = (ctx: HereIs, receiver: Receiver, kept: ZeroBalance): MailText =>
  zeroMail(ctx, receiver, kept, 'zeroSoon', [...keptFacts(receiver, kept), endOf(receiver, kept, 'zeroSoon')]);

/** What was kept was deleted. */
export const zeroEndedMail = (ctx: HereIs, receiver: Receiver, kept: ZeroBalance): MailText =>
  zeroMail(ctx, receiver, kept, 'zeroEnded', [
    { facts: namedFacts(kept, of(receiver).words.deletedServers, of(receiver).words.deletedStorages) },
    endOf(receiver, kept, 'zeroEnded'),
  ]);

type About = 'zero' | 'zeroSoon' | 'zeroEnded';

function zeroMail(
  { config }: HereIs,
  receiver: Receiver,
  { workspace, until }: ZeroBalance,
  about: About,
  parts: readonly Part[],
): MailText {
  const { language, words } = of(receiver);
  const subject = fill(words[about].subject, { workspace: onOneLine(workspace), date: utcDay(until) });
  return composeText(language, subject, [
    fill(words.hello, { name: receiver.name }),
    fill(words[about].lead, { workspace, date: utcMoment(until) }),
    ...parts,
    { link: `${config.appOrigin}/profile/balance`, label: words.balancePage },
  ]);
}

function keptFacts(receiver: Receiver, kept: ZeroBalance): Part[] {
  const { words } = of(receiver);
  return [
    {
      facts: [
        ...namedFacts(kept, words.stoppedServers, words.readOnlyStorages),
        [words.keptUntil, utcMoment(kept.until)],
      ],
    },
  ];
}

/** What there is none of has no line. */
function namedFacts({ servers, storages }: ZeroBalance, ofServers: string, ofStorages: string): [string, string][] {
  const facts: [string, readonly string[]][] = [
    [ofServers, servers],
    [ofStorages, storages],
  ];
  return facts.filter(([, names]) => names.length > 0).map(([label, names]) => [label, named(names)]);
}

function endOf(receiver: Receiver, { workspace, until }: ZeroBalance, about: About): string {
  const { words } = of(receiver);
  return fill(words[about].end, { workspace, date: utcMoment(until) });
}

function of({ language }: Receiver): { language: Language; words: Words } {
  return { language: language ?? 'en', words: WORDS[language ?? 'en'] };
}

/** A mail does not list hundreds. */
const NAMED_MOST = 20;

function named(names: readonly string[]): string {
  const more = names.length - NAMED_MOST;
  return [...names.slice(0, NAMED_MOST).map(onOneLine), ...(more > 0 ? [`+${more}`] : [])].join(', ');
}
