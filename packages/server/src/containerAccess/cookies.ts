import type { Config } from '../config/config.ts';

type Site = Pick<Config, 'appsDomain'>;

export const PASS_COOKIE = 'stagi-port';
/** The container that this browser was last let into at this host. */
export const CONTAINER_COOKIE = 'stagi-port-of';
/** The beginning of the names of access requests. */
export const REQUEST_COOKIES = 'stagi-trip-';
/** Browsers keep fewer of one site. */
const MAX_CANDIDATES = 200;

/** Browsers let no other host, such as that of another port, set or read a `__Host-` cookie. */
export const cookieName = (config: Site, name: string): string => (isSecure(config) ? `__Host-${name}` : name);

export function setCookie(config: Site, name: string, value: string | number, seconds: number): string {
  const secure = isSecure(config) ? '; Secure' : '';
  return `${cookieName(config, name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

/**
 * The values of the cookies whose names begin so. Without HTTPS the page of another port can set cookies of any name for
 * this host: a name may come twice, and each value is only a candidate until it was verified.
 */
export function cookiesNamed(config: Site, beginning: string, header: string | undefined): string[] {
  const wanted = cookieName(config, beginning);
  const values = new Set<string>();
  for (const { name, value } of cookiesOf(header)) {
    if (name.startsWith(wanted) && values.size < MAX_CANDIDATES) values.add(value);
  }
  return [...values];
}

/** The cookies of a header, in order; those of our own names too. */
export function cookiesOf(header: string | undefined): { name: string; value: string; pair: string }[] {
  return (header ?? '').split(';').flatMap((part) => {
    const pair = part.trim();
    if (pair === '') return [];
    const equals = pair.indexOf('=');
    if (equals < 0) return [{ name: pair, value: '', pair }];
    return [{ name: pair.slice(0, equals).trimEnd(), value: pair.slice(equals + 1).trimStart(), pair }];
  });
}

/** Whether the platform keeps a cookie of this name at the hosts of ports, with HTTPS or without. */
export const isOwnCookie = (name: string): boolean => /^(?:__(?:host|secure)-)?stagi-(?:port|trip)/i.test(name.trim());

const isSecure = ({ appsDomain }: Site): boolean => appsDomain?.protocol === 'https:';
