/** The parts of a path in a repository, from the root; null where a part cannot be the name of an entry. */
export function splitPath(path: string): string[] | null {
  if (path === '') return [];
  const parts = path.split('/');
  return parts.every(isEntryName) ? parts : null;
}

/**
 * Whether this may be an entry's name. What a checkout could not or must not hold is refused, though a hostile tree may
 * contain it: `.git` in any case, and what file systems read as it.
 */
export function isEntryName(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false;
  if (/[\0\n\r\\]/.test(name)) return false;
  // HFS+ ignores some characters, NTFS knows a short name and ignores dots and spaces at the end.
  const seen = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '');
  let end = seen.length;
  while (seen[end - 1] === '.' || seen[end - 1] === ' ') end -= 1;
  const plain = seen.slice(0, end).toLowerCase();
  return plain !== '.git' && plain !== 'git~1';
}

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

/** For `--stdin`: so a path may have any bytes. Behind `--` nothing is an option. */
export function pathInput(path: Buffer): Buffer {
  return path.length > 0 ? Buffer.concat([Buffer.from('--\n'), path, Buffer.from('\n')]) : Buffer.alloc(0);
}
