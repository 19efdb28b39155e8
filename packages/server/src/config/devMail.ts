import { ConfigError } from './configError.ts';

type Environment = Record<string, string | undefined>;

const ON_PUBLIC = 'on public';

/** True when mails are shown to developers in place of being sent. Beyond this machine it takes a second word. */
export function readDevMail(env: Environment, isOfThisMachine: boolean): boolean {
  const word = env.DEV_MAIL;
  if (word && word !== 'on' && word !== ON_PUBLIC)
    throw new ConfigError('DEV_MAIL', `must be on or "${ON_PUBLIC}", not "${word}"`);
  if (env.SMTP_URL) return false;
  if (word === 'on' && !isOfThisMachine)
    throw new ConfigError(
      'DEV_MAIL',
      `on would show every mailed code at /dev/mail without a login: anybody who reaches this platform could take over ` +
        `any account. Set SMTP_URL instead, or DEV_MAIL="${ON_PUBLIC}" if you want that`,
    );
  return isOfThisMachine || word === ON_PUBLIC;
}
