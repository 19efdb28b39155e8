import { pathBytes, pathText } from '@stagi/contract/codePath.ts';

export type LinkTarget =
  | { kind: 'anchor'; id: string }
  | { kind: 'path'; path: string; hash: string }
  | { kind: 'external'; url: string };

const ROOT = 'http://repository.invalid/';

/**
 * What a link of a Markdown file leads to: a place in the page, a path of the repository or another site. Null for
 * what is none of them, such as `javascript:`. `folder` is where the file is. Links are written with the names of files
 * as they are, paths here as `codePath.ts` writes them.
 */
export function resolveLink(href: string, folder: string): LinkTarget | null {
  if (href.startsWith('#')) return { kind: 'anchor', id: decoded(href.slice(1)) ?? href.slice(1) };
  const base = folder === '' ? ROOT : `${ROOT}${folder.split('/').map(encodedName).join('/')}/`;
  if (!URL.canParse(href, base)) return null;
  const url = new URL(href, base);
  if (url.protocol === 'mailto:' || url.protocol === 'https:') return { kind: 'external', url: url.href };
  if (url.protocol !== 'http:') return null;
  if (url.host !== 'repository.invalid' || url.username !== '') return { kind: 'external', url: url.href };
  const path = decodedPath(url.pathname.slice(1).replace(/\/$/, ''));
  if (path === null || path.split('/').some((name) => name === '.' || name === '..')) return null;
  if (path !== '' && path.split('/').includes('')) return null;
  return { kind: 'path', path, hash: url.hash };
}

/** Every byte, as a name may be no text. */
function encodedName(name: string): string {
  const bytes = pathBytes(name) ?? new TextEncoder().encode(name);
  return [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

/** Null where a percent sign encodes nothing. */
function decodedPath(pathname: string): string | null {
  if (/%(?![0-9A-Fa-f]{2})/.test(pathname)) return null;
  // Characters that a URL leaves as they are, are ASCII.
  const bytes = pathname.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return pathText(Uint8Array.from(bytes, (one) => one.charCodeAt(0)));
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
