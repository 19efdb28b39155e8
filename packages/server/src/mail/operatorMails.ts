import type { Config } from '../config/config.ts';
import { composeText, fill, type Receiver, WORDS } from './accountMails.ts';
import type { MailText, Part } from './layout.ts';
import { onOneLine } from './memberMails.ts';

/** Caused by an operator, so there is no browser of the receiver's: those who have chosen no language get English. */
interface OperatorMailContext {
  config: Pick<Config, 'appOrigin'> & { site: Pick<Config['site'], 'supportEmail'> };
}

export function accountDisabledMail(ctx: OperatorMailContext, receiver: Receiver, reason: string): MailText {
  return operatorsMail(ctx, receiver, 'shutOut', { reason });
}

export function accountEnabledMail(ctx: OperatorMailContext, receiver: Receiver): MailText {
  return operatorsMail(ctx, receiver, 'letIn', { link: '/sign-in' });
}

/** To the owners of the workspace; `member…` to its other members. */
export const clientDisabledMail = disabledMail('shut');
export const memberClientDisabledMail = disabledMail('memberShut');
export const clientEnabledMail = enabledMail('opened');
export const memberClientEnabledMail = enabledMail('memberOpened');

function disabledMail(what: 'shut' | 'memberShut') {
  return (ctx: OperatorMailContext, receiver: Receiver, workspace: string, reason: string): MailText =>
    operatorsMail(ctx, receiver, what, { workspace, reason });
}

function enabledMail(what: 'opened' | 'memberOpened') {
  return (ctx: OperatorMailContext, receiver: Receiver, workspace: string): MailText =>
    operatorsMail(ctx, receiver, what, { workspace, link: '/sign-in' });
}

type What = 'shutOut' | 'letIn' | 'shut' | 'opened' | 'memberShut' | 'memberOpened';

/** Mails that end with the support address. */
const ASKS_TO_WRITE: readonly What[] = ['shutOut', 'shut'];

function operatorsMail(
  { config }: OperatorMailContext,
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
  return composeText(language, fill(words[what].subject, { workspace: onOneLine(workspace) }), [
    fill(words.hello, { name }),
    words[what].lead,
    ...(facts.length > 0 ? [{ facts } satisfies Part] : []),
    ...(supportEmail || !ASKS_TO_WRITE.includes(what) ? [words[what].end] : []),
    ...(link ? [{ link: `${config.appOrigin}${link}`, label: words.logIn } satisfies Part] : []),
    ...(supportEmail ? [{ facts: [[words.support, supportEmail]] } satisfies Part] : []),
  ]);
}
