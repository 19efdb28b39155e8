import { BRAND } from '@stagi/contract/brand.ts';
import type { Language } from '@stagi/contract/languages.ts';
import { CODE_TTL_MINUTES } from '@stagi/contract/mailedCodes.ts';
import type { Config } from '../config/config.ts';
import { deviceOf } from '../http/userAgent.ts';
import { type MailText, type Part, renderMail } from './layout.ts';
import { utcMoment } from './utcTime.ts';
import { cn } from './words/cn.ts';
import { en } from './words/en.ts';
import { ru } from './words/ru.ts';
import { tr } from './words/tr.ts';
import type { Words } from './words/words.ts';

/** The request that causes the mail. Its language is used for receivers who have chosen none. */
export interface MailContext {
  config: Pick<Config, 'appOrigin'> & Partial<Pick<Config, 'identityProviders'>>;
  language: Language;
  ip: string;
  userAgent: string | null;
}
export interface Receiver {
  name: string;
  language: Language | null;
}

/** For mails that name the support address, as a new password would not help any more. */
interface SupportedMailContext extends MailContext {
  config: MailContext['config'] & { site: Pick<Config['site'], 'supportEmail'> };
}

export const WORDS: Record<Language, Words> = { en, cn, ru, tr };

export function codeMail({ language }: MailContext, code: string, name: string): MailText {
  const words = WORDS[language];
  return composeText(language, fill(words.code.subject, { code }), [
    fill(words.hello, { name }),
    fill(words.code.lead, { minutes: CODE_TTL_MINUTES }),
    { code },
    words.code.end,
  ]);
}

export function alreadyRegisteredMail(ctx: MailContext, receiver: Pick<Receiver, 'language'>): MailText {
  const language = receiver.language ?? ctx.language;
  const words = WORDS[language];
  return composeText(language, words.registered.subject, [
    words.registered.lead,
    { link: `${ctx.config.appOrigin}/sign-in`, label: words.logIn },
    words.registered.recovery,
    { link: recoveryOf(ctx), label: words.newPassword },
    words.registered.end,
  ]);
}

export function resetCodeMail(ctx: MailContext, code: string, receiver: Receiver): MailText {
  const language = receiver.language ?? ctx.language;
  const words = WORDS[language];
  return composeText(language, fill(words.reset.subject, { code }), [
    fill(words.hello, { name: receiver.name }),
    fill(words.reset.lead, { minutes: CODE_TTL_MINUTES }),
    { code },
    words.reset.end,
  ]);
}

/** To the new address of an account, with the code that confirms it. */
export function newAddressMail(ctx: MailContext, code: string, receiver: Receiver): MailText {
  const language = receiver.language ?? ctx.language;
  const words = WORDS[language];
  return composeText(language, fill(words.newAddress.subject, { code }), [
    fill(words.hello, { name: receiver.name }),
    fill(words.newAddress.lead, { minutes: CODE_TTL_MINUTES }),
    { code },
    words.newAddress.end,
  ]);
}

/** To an address that has an account: somebody wants to change another account to it. */
export function addressTakenMail(ctx: MailContext, receiver: Receiver): MailText {
  const language = receiver.language ?? ctx.language;
  const words = WORDS[language];
  return composeText(language, words.addressTaken.subject, [
    fill(words.hello, { name: receiver.name }),
    words.addressTaken.lead,
    words.addressTaken.end,
    { link: `${ctx.config.appOrigin}/sign-in`, label: words.logIn },
  ]);
}

export function emailChangedMail(ctx: SupportedMailContext, receiver: Receiver): MailText {
  return finalNoticeMail(ctx, receiver, 'emailChanged');
}

export function accountDeletedMail(ctx: SupportedMailContext, receiver: Receiver): MailText {
  return finalNoticeMail(ctx, receiver, 'deleted');
}

/** A password reset was requested for an address without an account. */
export function noAccountMail({ config, language }: MailContext): MailText {
  const words = WORDS[language];
  return composeText(language, words.noAccount.subject, [
    words.noAccount.lead,
    { link: `${config.appOrigin}/sign-up`, label: words.signUp },
    words.noAccount.end,
  ]);
}

export function passwordChangedMail(ctx: MailContext, receiver: Receiver): MailText {
  return warning(ctx, receiver, 'changed');
}

export function passwordAddedMail(ctx: MailContext, receiver: Receiver): MailText {
  return warning(ctx, receiver, 'added');
}

export function newDeviceMail(ctx: MailContext, receiver: Receiver): MailText {
  return warning(ctx, receiver, 'device');
}

/** An attacker with a stolen session could create a token that outlives it. */
export function tokenCreatedMail(
  ctx: MailContext,
  receiver: Receiver,
  description: string,
  workspaceName: string,
): MailText {
  const language = receiver.language ?? ctx.language;
  const words = WORDS[language];
  return composeText(language, words.token.subject, [
    fill(words.hello, { name: receiver.name }),
    words.token.lead,
    { facts: [[words.description, description], [words.workspace, workspaceName], ...factsOf(ctx, language)] },
    endOf(ctx, words, 'token'),
    { link: `${ctx.config.appOrigin}/profile/tokens`, label: words.tokens },
  ]);
}

export function identityConnectedMail(ctx: MailContext, receiver: Receiver, provider: string): MailText {
  return warning(ctx, receiver, 'connected', { provider });
}

export function identityDisconnectedMail(ctx: MailContext, receiver: Receiver, provider: string): MailText {
  return warning(ctx, receiver, 'disconnected', { provider });
}

/** An attacker with a stolen session could authorize an app that outlives it. */
export function appAuthorizedMail(ctx: MailContext, receiver: Receiver, app: string): MailText {
  return warning(ctx, receiver, 'app', { app });
}

export function stepUpCodeMail(ctx: MailContext, code: string, receiver: Receiver): MailText {
  const language = receiver.language ?? ctx.language;
  const words = WORDS[language];
  return composeText(language, fill(words.stepUp.subject, { code }), [
    fill(words.hello, { name: receiver.name }),
    fill(words.stepUp.lead, { minutes: CODE_TTL_MINUTES }),
    { code },
    endOf(ctx, words, 'stepUp'),
    sessionsOf(ctx, words),
  ]);
}

export const totpAddedMail = securityMail('totpAdded');
export const totpRemovedMail = securityMail('totpRemoved');
export const passkeyAddedMail = securityMail('passkeyAdded');
export const passkeyRemovedMail = securityMail('passkeyRemoved');
export const recoveryCodesMail = securityMail('recoveryCodes');
export const recoveryCodeUsedMail = securityMail('recoveryCodeUsed');

/** Somebody knows the password and guesses the second factor. */
export function factorGuessedMail(ctx: MailContext, receiver: Receiver): MailText {
  return warning(ctx, receiver, 'factorGuessed');
}

/** A refresh token was reused, so it was stolen: the session was revoked. */
export function sessionEndedMail(
  { config, language: spoken }: Pick<MailContext, 'config' | 'language'>,
  receiver: Receiver,
): MailText {
  const language = receiver.language ?? spoken;
  const words = WORDS[language];
  return composeText(language, words.ended.subject, [
    fill(words.hello, { name: receiver.name }),
    words.ended.lead,
    { link: `${config.appOrigin}/profile/account/sessions`, label: words.sessions },
    words.ended.end,
  ]);
}

/** To an address that has no account any more, with the support address in case it was somebody else. */
function finalNoticeMail(ctx: SupportedMailContext, receiver: Receiver, what: 'emailChanged' | 'deleted'): MailText {
  const language = receiver.language ?? ctx.language;
  const words = WORDS[language];
  const { supportEmail } = ctx.config.site;
  return composeText(language, words[what].subject, [
    fill(words.hello, { name: receiver.name }),
    words[what].lead,
    { facts: factsOf(ctx, language) },
    words[what].end,
    ...(supportEmail ? [{ facts: [[words.support, supportEmail]] } satisfies Part] : []),
  ]);
}

type Warning =
  | 'changed'
  | 'added'
  | 'device'
  | 'connected'
  | 'disconnected'
  | 'app'
  | 'totpAdded'
  | 'totpRemoved'
  | 'passkeyAdded'
  | 'passkeyRemoved'
  | 'recoveryCodes'
  | 'recoveryCodeUsed'
  | 'factorGuessed';

/** A notice about second factors, with a link to the page where they are managed. */
function securityMail(what: Warning): (ctx: MailContext, receiver: Receiver) => MailText {
  return (ctx, receiver) =>
    warning(
      ctx,
      receiver,
      what,
      {},
      {
        link: `${ctx.config.appOrigin}/profile/account/security`,
        label: WORDS[receiver.language ?? ctx.language].security,
      },
    );
}

/** A security notice: what happened, when and from where, and what to do if it was somebody else. */
function warning(
  ctx: MailContext,
  receiver: Receiver,
  what: Warning,
  values: Record<string, string> = {},
  remedy?: Part,
): MailText {
  const language = receiver.language ?? ctx.language;
  const words = WORDS[language];
  return composeText(language, fill(words[what].subject, values), [
    fill(words.hello, { name: receiver.name }),
    fill(words[what].lead, values),
    { facts: factsOf(ctx, language) },
    endOf(ctx, words, what),
    remedy ?? (hasPasswords(ctx) ? { link: recoveryOf(ctx), label: words.newPassword } : sessionsOf(ctx, words)),
  ]);
}

/** Where passwords are switched off, a new one does not help. */
const endOf = (ctx: MailContext, words: Words, what: Warning | 'token' | 'stepUp'): string =>
  hasPasswords(ctx) ? words[what].end : words.endWithoutPassword;

const hasPasswords = ({ config }: MailContext): boolean => !config.identityProviders?.isPasswordOff;

const sessionsOf = ({ config }: MailContext, words: Words): Part => ({
  link: `${config.appOrigin}/profile/account/sessions`,
  label: words.sessions,
});

function factsOf({ userAgent, ip }: MailContext, language: Language): [string, string][] {
  const words = WORDS[language];
  return [
    [words.when, utcMoment(new Date())],
    [words.from, deviceName(userAgent) || words.unknownDevice],
    [words.address, ip],
  ];
}

function deviceName(userAgent: string | null): string {
  const { browser, os } = deviceOf(userAgent);
  return [browser, os].filter(Boolean).join(', ');
}

const recoveryOf = ({ config }: Pick<MailContext, 'config'>): string => `${config.appOrigin}/recovery`;

export function composeText(language: Language, subject: string, parts: readonly Part[]): MailText {
  return renderMail(
    language,
    fill(subject, {}),
    parts.map((part) => (typeof part === 'string' ? fill(part, {}) : part)),
    fill(WORDS[language].footer, {}),
  );
}

export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) =>
    name === 'brand' ? BRAND : String(values[name] ?? whole),
  );
}
