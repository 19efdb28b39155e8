import { text } from '@stagi/contract/text.ts';
import { isLoopback } from '../config/loopback.ts';
import type { Context } from '../context.ts';
import { PublicError } from './errors.ts';
import { createRareLog } from './rareLog.ts';

const LOG_MS = 60_000;
const SHOWN = 100;
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Makes the refusal of a host that a listener does not know, and logs one a minute. If all hosts were answered, a page
 * of any name that resolves to this machine would be of one origin with the platform (DNS rebinding).
 */
export function createHostRefusal({ log }: Pick<Context, 'log'>): (host: string) => PublicError {
  const rarely = createRareLog(LOG_MS);
  return (host) => {
    // A terminal may read what is not printable as a command.
    const shown = host.slice(0, SHOWN).replace(/[^\x20-\x7e]/g, '?');
    rarely((likeIt) => log.warn({ host: shown, likeIt }, 'refused: the host is of no origin and not in ALLOWED_HOSTS'));
    return new PublicError(
      421,
      text('"{{host}}" is no address of this platform. Its operator can add it to ALLOWED_HOSTS.'),
      { values: { host: shown } },
    );
  };
}

/** The name of an origin's host; where it is this machine, all names of loopback. */
export function namesOf(origin: string): readonly string[] {
  const { hostname } = new URL(origin);
  return isLoopback(hostname) ? [hostname, ...LOOPBACK] : [hostname];
}
