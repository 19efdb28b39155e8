export type LinkTarget =
  | { kind: 'anchor'; id: string }
  | { kind: 'path'; path: string; hash: string }
  | { kind: 'external'; url: string };

const ROOT = 'http://repository.invalid/';

/**
 * What a link of a Markdown file leads to: a place in the page, a path of the repository or another site. Null for
 * what is none of them, such as `javascript:`. `folder` is where the file is.
 */
export function resolveLink(href: string, folder: string): LinkTarget | null {
  if (href.startsWith('#')) return { kind: 'anchor', id: decoded(href.slice(1)) ?? href.slice(1) };
  const base = folder === '' ? ROOT : `${ROOT}${folder.split('/').map(encodeURIComponent).join('/')}/`;
  if (!URL.canParse(href, base)) return null;
  const url = new URL(href, base);
  if (url.protocol === 'mailto:' || url.protocol === 'https:') return { kind: 'external', url: url.href };
  if (url.protocol !== 'http:') return null;
  if (url.host !== 'repository.invalid' || url.username !== '') return { kind: 'external', url: url.href };
  const path = decoded(url.pathname.slice(1).replace(/\/$/, ''));
  if (path === null || path.split('/').some((name) => name === '.' || name === '..')) return null;
  if (path !== '' && path.split('/').includes('')) return null;
  return { kind: 'path', path, hash: url.hash };
}

/** Null where a percent sign encodes nothing. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    if (cause instanceof URIError) return null;
    throw cause;
  }
}
