import { ConfigError } from './configError.ts';
import { isLoopback } from './loopback.ts';

type Environment = Record<string, string | undefined>;

/** An origin that everybody on the way could read has to be asked for with PLAIN_HTTP. */
export function refusePlainHttp(env: Environment, name: string, { protocol, hostname }: URL): void {
  if (protocol === 'https:' || env.PLAIN_HTTP === 'on' || isThisMachine(hostname)) return;
  throw new ConfigError(
    name,
    'must be https, or anybody on the way reads passwords: put a TLS proxy in front, or set PLAIN_HTTP=on',
  );
}

/** True when mails may go without TLS to a server that offers none: to one on this machine, or as PLAIN_SMTP says. */
export function mayMailPlainly(env: Environment, smtpUrl: string | null): boolean {
  return env.PLAIN_SMTP === 'on' || (smtpUrl !== null && isThisMachine(new URL(smtpUrl).hostname));
}

/** RFC 6761 6.3: names below `localhost` are loopback, too. */
const isThisMachine = (hostname: string): boolean => isLoopback(hostname) || hostname.endsWith('.localhost');
