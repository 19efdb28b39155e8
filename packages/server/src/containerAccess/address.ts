import type { AppsDomain } from '../config/appsDomain.ts';

/** A container's port, as the host name of its address says. */
export interface PortTarget {
  slug: string;
  port: number;
}

const SLUG = /^[a-z0-9](?:-?[a-z0-9])*$/;
const LONGEST = 2048;

export const hostOf = ({ slug, port }: PortTarget, domain: AppsDomain): string => `${slug}-${port}.${domain.host}`;

export const originOf = (place: PortTarget, domain: AppsDomain): string =>
  `${domain.protocol}//${hostOf(place, domain)}`;

/** The port that a `Host` header names; `null` for every other host. */
export function targetOfHost(host: string | undefined, domain: AppsDomain): PortTarget | null {
  const ending = `.${domain.host}`;
  if (!host?.toLowerCase().endsWith(ending)) return null;
  const [, slug = '', port = ''] = /^(.+)-([1-9][0-9]{3})$/.exec(host.toLowerCase().slice(0, -ending.length)) ?? [];
  return slug.length <= 40 && SLUG.test(slug) ? { slug, port: Number(port) } : null;
}

/** Whether a `Host` header is below the domain of ports, whatever it names there. */
export const isOfDomain = (host: string | undefined, domain: AppsDomain): boolean => {
  const name = host?.toLowerCase();
  return name === domain.host || (name?.endsWith(`.${domain.host}`) ?? false);
};

/**
 * The port and path of an untrusted return address; `null` unless its scheme and parsed host are exactly those of a port
 * of this container. Prevents open redirects: the redirect's host is built from slug and port, and only path, query and
 * hash are taken from the address.
 */
export function targetOfUrl(
  address: string,
  slug: string,
  domain: AppsDomain,
): { place: PortTarget; path: string } | null {
  if (address.length > LONGEST || !isPlain(address) || !URL.canParse(address)) return null;
  const url = new URL(address);
  const place = targetOfHost(url.host, domain);
  if (!place || place.slug !== slug) return null;
  if (url.origin !== originOf(place, domain) || url.username !== '' || url.password !== '') return null;
  return { place, path: url.pathname + url.search + url.hash };
}

/** Refuses characters that URL parsers drop, swap or decode; browsers do not write them. */
function isPlain(address: string): boolean {
  return /^[a-z]+:\/\/[^/?#%]+(?:[/?#]|$)/i.test(address) && /^[\x21-\x7e]+$/.test(address) && !address.includes('\\');
}
