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
  /** Stopped servers are kept until then. */
  until: Date;
  /** The names of the servers. */
  servers: readonly string[];
}

/** The balance of a workspace has run out: what was stopped, until when it is kept, and what could not be kept. */
export function zeroBalanceMail(
  ctx: HereIs,
  receiver: Receiver,
  { lost, ...kept }: ZeroBalance & { lost: readonly string[] },
): MailText {
  const { words } = of(receiver);
  return zeroMail(ctx, receiver, kept, 'zero', [
    ...(lost.length > 0 ? [fill(words.zero.lost, { servers: named(lost) })] : []),
    ...(kept.servers.length > 0 ? keptFacts(receiver, kept) : []),
    kept.servers.length > 0 ? endOf(receiver, kept, 'zero') : words.zero.nothingKept,
  ]);
}

/** The stopped servers will be deleted soon. */
export const zeroReminderMail = (ctx: HereIs, receiver: Receiver, kept: ZeroBalance): MailText =>
  zeroMail(ctx, receiver, kept, 'zeroSoon', [...keptFacts(receiver, kept), endOf(receiver, kept, 'zeroSoon')]);

/** The stopped servers were deleted. */
export const zeroEndedMail = (ctx: HereIs, receiver: Receiver, kept: ZeroBalance): MailText =>
  zeroMail(ctx, receiver, kept, 'zeroEnded', [
    { facts: [[of(receiver).words.deletedServers, named(kept.servers)]] },
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

function keptFacts(receiver: Receiver, { servers, until }: ZeroBalance): Part[] {
  const { words } = of(receiver);
  return [
    {
      facts: [
        [words.stoppedServers, named(servers)],
        [words.keptUntil, utcMoment(until)],
      ],
    },
  ];
}

function endOf(receiver: Receiver, { workspace, until }: ZeroBalance, about: About): string {
  const { words } = of(receiver);
  return fill(words[about].end, { workspace, date: utcMoment(until) });
}

function of({ language }: Receiver): { language: Language; words: Words } {
  return { language: language ?? 'en', words: WORDS[language ?? 'en'] };
}

/** A mail does not list hundreds of servers. */
const NAMED_MOST = 20;

function named(servers: readonly string[]): string {
  const more = servers.length - NAMED_MOST;
  return [...servers.slice(0, NAMED_MOST).map(onOneLine), ...(more > 0 ? [`+${more}`] : [])].join(', ');
}
