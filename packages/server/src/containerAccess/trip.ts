import { createHash, randomBytes } from 'node:crypto';
import type { Config } from '../config.ts';
import { setCookie, shownCookies } from './cookies.ts';

/** As long as somebody may take to log in, or to sign up by a mailed code. */
const TRIP_SECONDS = 30 * 60;
const PREFIX = 'stagi-trip-';
/** Each page that is opened begins one of its own; browsers keep some 50 cookies of a host, and all are shown each time. */
const MOST = 16;

type Site = Pick<Config, 'appsDomain'>;

/**
 * The way of one browser from the host of a port to the access page and back. The browser keeps a secret, the addresses
 * it passes by hold only the hash: a code that was asked for with it opens nothing anywhere else, neither for who finds
 * it nor for whoever is lured into bringing that of another person.
 */
export interface Trip {
  state: string;
  setCookie: string;
}

export function beginTrip(config: Site, cookies: string | undefined): Trip {
  const shown = [...shownCookies(config, PREFIX, cookies).values()].filter(isSecret);
  const secret = (shown.length >= MOST && shown[0]) || randomBytes(32).toString('base64url');
  return {
    state: hashOf(secret).toString('base64url'),
    setCookie: setCookie(config, nameOf(secret), secret, TRIP_SECONDS),
  };
}

/** The hash that an address names; `null`: it names none. */
export const hashOfState = (state: string | undefined): Buffer | null =>
  state !== undefined && /^[\w-]{43}$/.test(state) ? Buffer.from(state, 'base64url') : null;

/** Takes from the browser what it kept of its trip. `null`: it is another one that began it, or too long ago. */
export function endTrip(config: Site, cookies: string | undefined, hash: Buffer | null): string | null {
  if (!hash) return null;
  // Hashes are compared, of which nobody learns a sign by how long that takes.
  const secret = [...shownCookies(config, PREFIX, cookies).values()].find(
    (one) => isSecret(one) && hashOf(one).equals(hash),
  );
  return secret === undefined ? null : setCookie(config, nameOf(secret), '', 0);
}

const isSecret = (text: string): boolean => /^[\w-]{43}$/.test(text);
const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
/** Apart from each other, so that tabs which are opened at once do not undo each other's. */
const nameOf = (secret: string): string => PREFIX + hashOf(secret).toString('hex').slice(0, 16);
