export interface ContainerPort {
  slug: string;
  port: string;
}

const PAGE = /^\/container-auth\/([a-z0-9](?:-?[a-z0-9])*)$/;
const PORT = /^[1-9][0-9]{3}$/;
const LONGEST_SLUG = 40;

/**
 * The port that somebody signs in for, as an address of the access page names it; null: something else. Nothing is looked
 * up: a container that does not exist is named just as well, and strangers learn nothing.
 */
export function portOfReturn(returnUrl: string | null): ContainerPort | null {
  if (returnUrl === null || !URL.canParse(returnUrl, window.location.origin)) return null;
  const { origin, pathname, searchParams } = new URL(returnUrl, window.location.origin);
  const slug = origin === window.location.origin ? PAGE.exec(pathname)?.[1] : undefined;
  return slug === undefined ? null : portOfHost(slug, searchParams.get('returnUrl'));
}

/** The port of that container whose address this is; null: none. */
export function portOfHost(slug: string, address: string | null): ContainerPort | null {
  if (slug.length > LONGEST_SLUG || address === null || !URL.canParse(address)) return null;
  const [label = ''] = new URL(address).hostname.split('.');
  const port = label.startsWith(`${slug}-`) ? label.slice(slug.length + 1) : '';
  return PORT.test(port) ? { slug, port } : null;
}
