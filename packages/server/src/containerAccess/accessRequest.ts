import { createHash, randomBytes } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { cookiesNamed, REQUEST_COOKIES, setCookie } from './cookies.ts';

/** The time to log in or to sign up with a mailed code. */
const REQUEST_SECONDS = 30 * 60;
/** Each page that is opened starts a request. Browsers keep some 50 cookies of a host and send all of them each time. */
const MAX_REQUESTS = 16;

type Site = Pick<Config, 'appsDomain'>;

/**
 * An access request binds the redirect from a port's host to the access page and back to one browser. The browser keeps
 * a secret in a cookie; the addresses have only its hash, the `state`. So a stolen code is useless in another browser,
 * and nobody can be tricked into using somebody else's code (login CSRF).
 */
export interface AccessRequest {
  state: string;
  setCookie: string;
}

export function startAccessRequest(config: Site, cookies: string | undefined): AccessRequest {
  const shown = cookiesNamed(config, REQUEST_COOKIES, cookies).filter(isSecret);
  const secret = (shown.length >= MAX_REQUESTS && shown[0]) || randomBytes(32).toString('base64url');
  return {
    state: hashOf(secret).toString('base64url'),
    setCookie: setCookie(config, nameOf(secret), secret, REQUEST_SECONDS),
  };
}

/** The hash in an address; `null` if there is none. */
export const hashOfState = (state: string | undefined): Buffer | null =>
  state !== undefined && /^[\w-]{43}$/.test(state) ? Buffer.from(state, 'base64url') : null;

/** The header that clears the request's cookie. `null` if another browser started the request, or it has expired. */
export function finishAccessRequest(config: Site, cookies: string | undefined, hash: Buffer | null): string | null {
  if (!hash) return null;
  // Comparing hashes leaks nothing about the secret through timing.
  const secret = cookiesNamed(config, REQUEST_COOKIES, cookies).find(
    (one) => isSecret(one) && hashOf(one).equals(hash),
  );
  return secret === undefined ? null : setCookie(config, nameOf(secret), '', 0);
}

const isSecret = (text: string): boolean => /^[\w-]{43}$/.test(text);
const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
/** A name for each request, so that tabs that are opened at once do not overwrite each other's cookie. */
const nameOf = (secret: string): string => REQUEST_COOKIES + hashOf(secret).toString('hex').slice(0, 16);
