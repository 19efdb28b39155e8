/**
 * The path to return to after sign-in, or `null` when `value` would leave this origin (open redirect). The parsed URLs
 * are compared, never prefixes: at most 2,048 characters, one leading slash, no backslash, space or control character.
 */
export function safeReturnUrl(value: string | null | undefined, origin: string): string | null {
  if (!value || value.length > 2048 || !/^\/(?!\/)/.test(value) || !hasOnlyPlainCharacters(value)) return null;
  if (!URL.canParse(value, origin)) return null;
  const url = new URL(value, origin);
  if (url.origin !== new URL(origin).origin) return null;
  const path = url.pathname + url.search + url.hash;
  return path.startsWith('//') ? null : path;
}

/**
 * The whole address to return to after sign-in where it lies outside of this origin: only an http(s) address whose
 * origin is that of an entry of the allow-list, and whose path is the entry's or below it. Parsed addresses are compared.
 * `null` when it is none.
 */
export function allowedReturnUrl(value: string | null | undefined, allowList: readonly string[]): string | null {
  if (!value || value.length > 2048 || !/^https?:\/\/[^/\\]/i.test(value) || !hasOnlyPlainCharacters(value))
    return null;
  if (!URL.canParse(value)) return null;
  const url = new URL(value);
  if (url.username || url.password || hasEncodedSlash(url.pathname)) return null;
  return allowList.some((entry) => covers(new URL(entry), url)) ? url.href : null;
}

/** Why an address cannot be an entry of the allow-list; `null` if it can. */
export function returnUrlEntryProblem(entry: string): string | null {
  if (!URL.canParse(entry)) return 'must be a whole address like https://docs.example/app';
  const { protocol, hostname, username, password, search, hash, pathname, href } = new URL(entry);
  if (username || password) return 'must not contain a user name';
  if (search || hash) return 'must not contain a query or a fragment';
  if (protocol !== 'https:' && !(protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)))
    return 'must be https, or http on this machine';
  if (hasEncodedSlash(pathname)) return 'must not contain an encoded slash';
  return href === entry || href === `${entry}/` ? null : `must be written as ${href}`;
}

/** The path of the entry ends at a slash or at the end of the other path, so that `/app` does not cover `/apple`. */
function covers(entry: URL, url: URL): boolean {
  if (entry.origin !== url.origin) return false;
  const path = entry.pathname.replace(/\/$/, '');
  return url.pathname === path || url.pathname.startsWith(`${path}/`);
}

/** A server that decodes these before it resolves dots would leave the path of the entry. */
const hasEncodedSlash = (path: string): boolean => /%2f|%5c/i.test(path);

/** Without the characters that browsers drop (controls, spaces) or read as a slash (backslash). */
function hasOnlyPlainCharacters(value: string): boolean {
  for (const character of value) {
    const code = character.codePointAt(0) ?? 0;
    if (code <= 0x20 || code === 0x7f || character === '\\') return false;
  }
  return true;
}
