import type { Config } from '../config.ts';
import type { MailText, Part } from './layout.ts';
import { fill, letter, type Receiver, WORDS } from './letters.ts';
import { onOneLine } from './memberLetters.ts';

/** Written by an operator's act: no browser tells which language those read who have chosen none. They read English. */
interface OperatorsGround {
  config: Pick<Config, 'appOrigin'> & { site: Pick<Config['site'], 'supportEmail'> };
}

export function accountDisabledMail(ground: OperatorsGround, receiver: Receiver, reason: string): MailText {
  return operatorsMail(ground, receiver, 'shutOut', { reason });
}

export function accountEnabledMail(ground: OperatorsGround, receiver: Receiver): MailText {
  return operatorsMail(ground, receiver, 'letIn', { link: '/sign-in' });
}

/** To its owners; to everybody else who is in it. */
export const clientDisabledMail = shutMail('shut');
export const memberClientDisabledMail = shutMail('memberShut');
export const clientEnabledMail = openedMail('opened');
export const memberClientEnabledMail = openedMail('memberOpened');

function shutMail(what: 'shut' | 'memberShut') {
  return (ground: OperatorsGround, receiver: Receiver, workspace: string, reason: string): MailText =>
    operatorsMail(ground, receiver, what, { workspace, reason });
}

function openedMail(what: 'opened' | 'memberOpened') {
  return (ground: OperatorsGround, receiver: Receiver, workspace: string): MailText =>
    operatorsMail(ground, receiver, what, { workspace, link: '/sign-in' });
}

type What = 'shutOut' | 'letIn' | 'shut' | 'opened' | 'memberShut' | 'memberOpened';

/** Whose last words speak of the address below them. */
const ASKS_TO_WRITE: readonly What[] = ['shutOut', 'shut'];

function operatorsMail(
  { config }: OperatorsGround,
  { name, language: chosen }: Receiver,
  what: What,
  { workspace = '', reason, link }: { workspace?: string; reason?: string; link?: string },
): MailText {
  const language = chosen ?? 'en';
  const words = WORDS[language];
  const { supportEmail } = config.site;
  const facts: [string, string][] = [];
  if (workspace !== '') facts.push([words.workspace, workspace]);
  if (reason !== undefined) facts.push([words.reason, reason]);
  return letter(language, fill(words[what].subject, { workspace: onOneLine(workspace) }), [
    fill(words.hello, { name }),
    words[what].lead,
    ...(facts.length > 0 ? [{ facts } satisfies Part] : []),
    ...(supportEmail || !ASKS_TO_WRITE.includes(what) ? [words[what].end] : []),
    ...(link ? [{ link: `${config.appOrigin}${link}`, label: words.logIn } satisfies Part] : []),
    ...(supportEmail ? [{ facts: [[words.support, supportEmail]] } satisfies Part] : []),
  ]);
}
