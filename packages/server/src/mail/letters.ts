import { BRAND } from '@stagi/contract/brand.ts';
import { type Language, LOCALE } from '@stagi/contract/languages.ts';
import { CODE_TTL_MINUTES } from '@stagi/contract/mailedCodes.ts';
import { deviceOf } from '../auth/device.ts';
import type { Config } from '../config.ts';
import { layOut, type MailText, type Part } from './layout.ts';
import { cn } from './words/cn.ts';
import { en } from './words/en.ts';
import { ru } from './words/ru.ts';
import { tr } from './words/tr.ts';
import type { Words } from './words/words.ts';

/** What the browser at the other end tells; its language serves those who have chosen none. */
export interface Ground {
  config: Pick<Config, 'appOrigin'>;
  language: Language;
  ip: string;
  userAgent: string | null;
}
export interface Receiver {
  name: string;
  language: Language | null;
}

/** Where it is too late for a new password, people are told whom to write to. */
interface SupportedGround extends Ground {
  config: Ground['config'] & { site: Pick<Config['site'], 'supportEmail'> };
}

export const WORDS: Record<Language, Words> = { en, cn, ru, tr };

export function codeMail({ language }: Ground, code: string, name: string): MailText {
  const words = WORDS[language];
  return letter(language, fill(words.code.subject, { code }), [
    fill(words.hello, { name }),
    fill(words.code.lead, { minutes: CODE_TTL_MINUTES }),
    { code },
    words.code.end,
  ]);
}

export function alreadyRegisteredMail(ground: Ground, receiver: Pick<Receiver, 'language'>): MailText {
  const language = receiver.language ?? ground.language;
  const words = WORDS[language];
  return letter(language, words.registered.subject, [
    words.registered.lead,
    { link: `${ground.config.appOrigin}/sign-in`, label: words.logIn },
    words.registered.recovery,
    { link: recoveryOf(ground), label: words.newPassword },
    words.registered.end,
  ]);
}

export function resetCodeMail(ground: Ground, code: string, receiver: Receiver): MailText {
  const language = receiver.language ?? ground.language;
  const words = WORDS[language];
  return letter(language, fill(words.reset.subject, { code }), [
    fill(words.hello, { name: receiver.name }),
    fill(words.reset.lead, { minutes: CODE_TTL_MINUTES }),
    { code },
    words.reset.end,
  ]);
}

/** For whoever reads mails at the address that somebody wants to move to. */
export function newAddressMail(ground: Ground, code: string, receiver: Receiver): MailText {
  const language = receiver.language ?? ground.language;
  const words = WORDS[language];
  return letter(language, fill(words.newAddress.subject, { code }), [
    fill(words.hello, { name: receiver.name }),
    fill(words.newAddress.lead, { minutes: CODE_TTL_MINUTES }),
    { code },
    words.newAddress.end,
  ]);
}

/** Somebody wants to move another account to an address that has one. */
export function addressTakenMail(ground: Ground, receiver: Receiver): MailText {
  const language = receiver.language ?? ground.language;
  const words = WORDS[language];
  return letter(language, words.addressTaken.subject, [
    fill(words.hello, { name: receiver.name }),
    words.addressTaken.lead,
    words.addressTaken.end,
    { link: `${ground.config.appOrigin}/sign-in`, label: words.logIn },
  ]);
}

export function emailChangedMail(ground: SupportedGround, receiver: Receiver): MailText {
  return lastWord(ground, receiver, 'emailChanged');
}

export function accountDeletedMail(ground: SupportedGround, receiver: Receiver): MailText {
  return lastWord(ground, receiver, 'deleted');
}

/** Somebody wants a new password for an address that has no account. */
export function noAccountMail({ config, language }: Ground): MailText {
  const words = WORDS[language];
  return letter(language, words.noAccount.subject, [
    words.noAccount.lead,
    { link: `${config.appOrigin}/sign-up`, label: words.signUp },
    words.noAccount.end,
  ]);
}

export function passwordChangedMail(ground: Ground, receiver: Receiver): MailText {
  return warning(ground, receiver, 'changed');
}

export function passwordAddedMail(ground: Ground, receiver: Receiver): MailText {
  return warning(ground, receiver, 'added');
}

export function newDeviceMail(ground: Ground, receiver: Receiver): MailText {
  return warning(ground, receiver, 'device');
}

/** Whoever took over a session would make themselves a key that outlives it. */
export function tokenCreatedMail(
  ground: Ground,
  receiver: Receiver,
  description: string,
  workspaceName: string,
): MailText {
  const language = receiver.language ?? ground.language;
  const words = WORDS[language];
  return letter(language, words.token.subject, [
    fill(words.hello, { name: receiver.name }),
    words.token.lead,
    { facts: [[words.description, description], [words.workspace, workspaceName], ...factsOf(ground, language)] },
    words.token.end,
    { link: `${ground.config.appOrigin}/profile/tokens`, label: words.tokens },
  ]);
}

export function identityConnectedMail(ground: Ground, receiver: Receiver, provider: string): MailText {
  return warning(ground, receiver, 'connected', { provider });
}

export function identityDisconnectedMail(ground: Ground, receiver: Receiver, provider: string): MailText {
  return warning(ground, receiver, 'disconnected', { provider });
}

/** Whoever took over a session would let in an app that outlives it. */
export function appLetInMail(ground: Ground, receiver: Receiver, app: string): MailText {
  return warning(ground, receiver, 'app', { app });
}

export function stepUpCodeMail(ground: Ground, code: string, receiver: Receiver): MailText {
  const language = receiver.language ?? ground.language;
  const words = WORDS[language];
  return letter(language, fill(words.stepUp.subject, { code }), [
    fill(words.hello, { name: receiver.name }),
    fill(words.stepUp.lead, { minutes: CODE_TTL_MINUTES }),
    { code },
    words.stepUp.end,
    { link: `${ground.config.appOrigin}/profile/account/sessions`, label: words.sessions },
  ]);
}

export const totpAddedMail = securityMail('totpAdded');
export const totpRemovedMail = securityMail('totpRemoved');
export const passkeyAddedMail = securityMail('passkeyAdded');
export const passkeyRemovedMail = securityMail('passkeyRemoved');
export const recoveryCodesMail = securityMail('recoveryCodes');
export const recoveryCodeUsedMail = securityMail('recoveryCodeUsed');

/** Somebody has passed the first step of signing in, and cannot pass the second. */
export function factorGuessedMail(ground: Ground, receiver: Receiver): MailText {
  return warning(ground, receiver, 'factorGuessed');
}

/** A used refresh token came back: it is in two hands, and nobody knows which are the owner's. */
export function sessionEndedMail(
  { config, language: spoken }: Pick<Ground, 'config' | 'language'>,
  receiver: Receiver,
): MailText {
  const language = receiver.language ?? spoken;
  const words = WORDS[language];
  return letter(language, words.ended.subject, [
    fill(words.hello, { name: receiver.name }),
    words.ended.lead,
    { link: `${config.appOrigin}/profile/account/sessions`, label: words.sessions },
    words.ended.end,
  ]);
}

/** To an address that opens nothing any more: whom to write to if it was somebody else. */
function lastWord(ground: SupportedGround, receiver: Receiver, what: 'emailChanged' | 'deleted'): MailText {
  const language = receiver.language ?? ground.language;
  const words = WORDS[language];
  const { supportEmail } = ground.config.site;
  return letter(language, words[what].subject, [
    fill(words.hello, { name: receiver.name }),
    words[what].lead,
    { facts: factsOf(ground, language) },
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

/** About second factors: the page where they are changed back. */
function securityMail(what: Warning): (ground: Ground, receiver: Receiver) => MailText {
  return (ground, receiver) =>
    warning(
      ground,
      receiver,
      what,
      {},
      {
        link: `${ground.config.appOrigin}/profile/account/security`,
        label: WORDS[receiver.language ?? ground.language].security,
      },
    );
}

/** What happened, when and from where, and what to do if it was somebody else. */
function warning(
  ground: Ground,
  receiver: Receiver,
  what: Warning,
  values: Record<string, string> = {},
  remedy?: Part,
): MailText {
  const language = receiver.language ?? ground.language;
  const words = WORDS[language];
  return letter(language, fill(words[what].subject, values), [
    fill(words.hello, { name: receiver.name }),
    fill(words[what].lead, values),
    { facts: factsOf(ground, language) },
    words[what].end,
    remedy ?? { link: recoveryOf(ground), label: words.newPassword },
  ]);
}

function factsOf({ userAgent, ip }: Ground, language: Language): [string, string][] {
  const words = WORDS[language];
  const time = new Intl.DateTimeFormat(LOCALE[language], { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return [
    [words.when, `${time.format(new Date())} UTC`],
    [words.from, deviceName(userAgent) || words.unknownDevice],
    [words.address, ip],
  ];
}

function deviceName(userAgent: string | null): string {
  const { browser, os } = deviceOf(userAgent);
  return [browser, os].filter(Boolean).join(', ');
}

const recoveryOf = ({ config }: Pick<Ground, 'config'>): string => `${config.appOrigin}/recovery`;

export function letter(language: Language, subject: string, parts: readonly Part[]): MailText {
  return layOut(
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
