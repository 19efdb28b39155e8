import type { AppsDomain } from './domain.ts';

/** A port of a container, as its host names it. */
export interface PortPlace {
  slug: string;
  port: number;
}

const SLUG = /^[a-z0-9](?:-?[a-z0-9])*$/;
const LONGEST = 2048;

export const hostOf = ({ slug, port }: PortPlace, domain: AppsDomain): string => `${slug}-${port}.${domain.host}`;

export const originOf = (place: PortPlace, domain: AppsDomain): string =>
  `${domain.protocol}//${hostOf(place, domain)}`;

/** The port that a `Host` header speaks of; `null` for every other host. */
export function placeOfHost(host: string | undefined, domain: AppsDomain): PortPlace | null {
  const ending = `.${domain.host}`;
  if (!host?.toLowerCase().endsWith(ending)) return null;
  const [, slug = '', port = ''] = /^(.+)-([1-9][0-9]{3})$/.exec(host.toLowerCase().slice(0, -ending.length)) ?? [];
  return slug.length <= 40 && SLUG.test(slug) ? { slug, port: Number(port) } : null;
}

/**
 * The place of an address that somebody says they came from, and where on that host they want to go; `null` unless its
 * scheme and parsed host are exactly those of a port of this container. Who is sent there is sent to what we write
 * ourselves from slug and port: nothing of the address but path, query and hash goes on.
 */
export function placeOfAddress(
  address: string,
  slug: string,
  domain: AppsDomain,
): { place: PortPlace; path: string } | null {
  if (address.length > LONGEST || !isPlain(address) || !URL.canParse(address)) return null;
  const url = new URL(address);
  const place = placeOfHost(url.host, domain);
  if (!place || place.slug !== slug) return null;
  if (url.origin !== originOf(place, domain) || url.username !== '' || url.password !== '') return null;
  return { place, path: url.pathname + url.search + url.hash };
}

/** Parsers drop, turn around or decode what is none of these: no browser writes an address so. */
function isPlain(address: string): boolean {
  return /^[a-z]+:\/\/[^/?#%]+(?:[/?#]|$)/i.test(address) && /^[\x21-\x7e]+$/.test(address) && !address.includes('\\');
}
