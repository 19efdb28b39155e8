import { pathBytes } from '@stagi/contract/codePath.ts';

/**
 * The names on the way to a path, from the root, as bytes; null where a part cannot be the name of an entry. The text of
 * a path is that of `contract/src/codePath.ts`.
 */
export function splitPath(path: string): Buffer[] | null {
  if (path === '') return [];
  const names: Buffer[] = [];
  for (const part of path.split('/')) {
    const bytes = pathBytes(part);
    const name = bytes && Buffer.from(bytes);
    if (!name || !isEntryName(name)) return null;
    names.push(name);
  }
  return names;
}

/** The bytes of a path; null where `splitPath` answers it. */
export function bytesOfPath(path: string): Buffer | null {
  const names = splitPath(path);
  return names && joinNames(names);
}

export function joinNames(names: readonly Buffer[]): Buffer {
  return Buffer.concat(names.flatMap((name, n) => (n === 0 ? [name] : [Buffer.from('/'), name])));
}

/**
 * Tells if this may be an entry's name. What a checkout must not hold is refused, though a hostile tree may contain it:
 * `.git` in any case, and what file systems read as it.
 */
export function isEntryName(bytes: Buffer): boolean {
  if (bytes.includes(0) || bytes.includes(SLASH)) return false;
  const name = bytes.toString();
  if (name === '' || name === '.' || name === '..') return false;
  // HFS+ ignores some characters, NTFS knows a short name and ignores dots and spaces at the end.
  const seen = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '');
  let end = seen.length;
  while (seen[end - 1] === '.' || seen[end - 1] === ' ') end -= 1;
  const plain = seen.slice(0, end).toLowerCase();
  return plain !== '.git' && plain !== 'git~1';
}

const SLASH = 0x2f;

/**
 * Whether git accepts this after `refs/heads/` or `refs/tags/`: the rules of `git check-ref-format`, and no leading `-`.
 * Such a name has no character that `for-each-ref` reads as a pattern.
 */
export function isRefName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses these.
  if (/[\x00-\x20\x7f~^:?*[\\]/.test(name)) return false;
  if (name === '@' || name.startsWith('-') || name.includes('..') || name.includes('@{')) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !/(\.|\.lock)$/.test(part));
}
