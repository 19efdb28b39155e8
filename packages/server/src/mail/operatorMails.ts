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

/** To the owners of the workspace. */
export function planChangedMail(ctx: OperatorMailContext, receiver: Receiver, workspace: string): MailText {
  return operatorsMail(ctx, receiver, 'planChanged', { workspace, link: BALANCE });
}

/** To the owners of the workspace; `amount` names its currency. */
export function creditedMail(
  ctx: OperatorMailContext,
  receiver: Receiver,
  credit: { workspace: string; amount: string; reason: string },
): MailText {
  return operatorsMail(ctx, receiver, 'credited', { ...credit, link: BALANCE });
}

export function accountDeletedByOperatorMail(ctx: OperatorMailContext, receiver: Receiver, reason: string): MailText {
  return operatorsMail(ctx, receiver, 'deletedByOperator', { reason });
}

const BALANCE = '/profile/balance';

type What =
  | 'shutOut'
  | 'letIn'
  | 'shut'
  | 'opened'
  | 'memberShut'
  | 'memberOpened'
  | 'planChanged'
  | 'credited'
  | 'deletedByOperator';

/** Mails that end with the support address. */
const ASKS_TO_WRITE: readonly What[] = ['shutOut', 'shut', 'deletedByOperator'];

function operatorsMail(
  { config }: OperatorMailContext,
  { name, language: chosen }: Receiver,
  what: What,
  { workspace = '', amount, reason, link }: { workspace?: string; amount?: string; reason?: string; link?: string },
): MailText {
  const language = chosen ?? 'en';
  const words = WORDS[language];
  const { supportEmail } = config.site;
  const facts: [string, string][] = [];
  if (workspace !== '') facts.push([words.workspace, workspace]);
  if (amount !== undefined) facts.push([words.amount, amount]);
  if (reason !== undefined) facts.push([words.reason, reason]);
  return composeText(language, fill(words[what].subject, { workspace: onOneLine(workspace) }), [
    fill(words.hello, { name }),
    words[what].lead,
    ...(facts.length > 0 ? [{ facts } satisfies Part] : []),
    ...(supportEmail || !ASKS_TO_WRITE.includes(what) ? [words[what].end] : []),
    ...(link
      ? [
          {
            link: `${config.appOrigin}${link}`,
            label: link === BALANCE ? words.balancePage : words.logIn,
          } satisfies Part,
        ]
      : []),
    ...(supportEmail ? [{ facts: [[words.support, supportEmail]] } satisfies Part] : []),
  ]);
}
