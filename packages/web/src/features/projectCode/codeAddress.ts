/**
 * The addresses of the code screens (specification section 2):
 *
 * - `/projects/{id}/code/tree/{branch?}/{sha?}/{blobSha?}/{path?}`
 * - `/projects/{id}/commit/{branch?}/{sha?}/{path?}`
 * - `/projects/{id}/commits/{branch?}`
 * - `/projects/{id}/blob/{branch}/{sha?}/{path}/{blobSha}`
 *
 * Each part is one segment, so a slash in a branch or a path is written `%2F`. An address without a sha follows the
 * branch. Parts that are left out make the next ones ambiguous; what looks like an object's hash is read as one. So a
 * path or branch that itself looks like a hash is written with every part before it.
 */
export type CodeScreen = 'tree' | 'commit' | 'commits' | 'blob';

export interface CodeAddress {
  /** A branch, a tag, or a hash where no branch is known; null: the default branch. */
  branch: string | null;
  /** The commit; null follows the branch. */
  sha: string | null;
  /** The file; for `tree` the folder's object. */
  blobSha: string | null;
  /** Without a slash at either end; empty for the root. */
  path: string;
}

const NOWHERE: CodeAddress = { branch: null, sha: null, blobSha: null, path: '' };
const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export const isHash = (word: string): boolean => HASH.test(word);

export const codePaths = {
  tree(projectId: number, { branch = null, sha = null, blobSha = null, path = '' }: Partial<CodeAddress> = {}): string {
    const base = `/projects/${projectId}/code/tree`;
    if (branch === null) return base;
    return joined(base, [branch, ...(sha ? [sha, ...(blobSha ? [blobSha] : [])] : []), ...(path === '' ? [] : [path])]);
  },
  blob(
    projectId: number,
    { branch, sha = null, path, blobSha }: Partial<CodeAddress> & { branch: string; path: string; blobSha: string },
  ): string {
    return joined(`/projects/${projectId}/blob`, [branch, ...(sha ? [sha] : []), path, blobSha]);
  },
  commit(projectId: number, { branch = null, sha = null, path = '' }: Partial<CodeAddress> = {}): string {
    const base = `/projects/${projectId}/commit`;
    if (branch === null) return base;
    return joined(base, [branch, ...(sha ? [sha] : []), ...(path === '' ? [] : [path])]);
  },
  commits(projectId: number, { branch = null, path = '', sha = null }: Partial<CodeAddress> = {}): string {
    const query = new URLSearchParams();
    if (path !== '') query.set('path', path);
    if (sha !== null) query.set('sha', sha);
    const base = `/projects/${projectId}/commits`;
    const address = branch === null ? base : joined(base, [branch]);
    return query.size === 0 ? address : `${address}?${query}`;
  },
};

/** Reads the part of a pathname that follows the screen's word; null when it is none of the forms above. */
export function parseCodeAddress(screen: CodeScreen, pathname: string): CodeAddress | null {
  const parts = partsAfter(screen, pathname);
  if (parts === null) return null;
  const [branch, ...rest] = parts;
  if (branch === undefined) return screen === 'blob' ? null : NOWHERE;
  switch (screen) {
    case 'commits':
      return rest.length === 0 ? { ...NOWHERE, branch } : null;
    case 'blob':
      return blobAddress(branch, rest);
    case 'commit': {
      const [sha, others] = takeHash(rest, 2);
      return others.length > 1 ? null : { ...NOWHERE, branch, sha, path: others[0] ?? '' };
    }
    case 'tree': {
      const [sha, below] = takeHash(rest, 3);
      const [blobSha, others] = sha === null ? [null, below] : takeHash(below, 2);
      return others.length > 1 ? null : { branch, sha, blobSha, path: others[0] ?? '' };
    }
  }
}

function blobAddress(branch: string, rest: string[]): CodeAddress | null {
  const blobSha = rest.at(-1);
  if (blobSha === undefined || !isHash(blobSha)) return null;
  if (rest.length === 2) return { branch, sha: null, path: rest[0] ?? '', blobSha };
  const [sha, path] = rest;
  if (rest.length !== 3 || sha === undefined || path === undefined || !isHash(sha)) return null;
  return { branch, sha, path, blobSha };
}

function takeHash(parts: string[], most: number): [string | null, string[]] {
  const [first, ...others] = parts;
  return first !== undefined && parts.length <= most && isHash(first) ? [first, others] : [null, parts];
}

/** Decoded here: the router reads `%252F` as a slash. */
function partsAfter(screen: CodeScreen, pathname: string): string[] | null {
  const start = new RegExp(`^/projects/[^/]+/${screen === 'tree' ? 'code/tree' : screen}(?=/|$)`).exec(pathname);
  if (!start) return null;
  const words = pathname
    .slice(start[0].length)
    .split('/')
    .filter((word) => word !== '');
  try {
    return words.map(decodeURIComponent);
  } catch (cause) {
    // A lone percent sign, typed by hand.
    if (cause instanceof URIError) return null;
    throw cause;
  }
}

const joined = (base: string, parts: readonly string[]): string => [base, ...parts.map(encodeURIComponent)].join('/');

/** Each folder on the way to a path, outermost first, with the path itself at the end. */
export function crumbsOf(path: string): { name: string; path: string }[] {
  if (path === '') return [];
  const names = path.split('/');
  return names.map((name, at) => ({ name, path: names.slice(0, at + 1).join('/') }));
}

export const fileNameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export const folderOf = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '');

export const childOf = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);

/** `#L10`, `#L10-L20`; null for anything else. The smaller line comes first. */
export function parseLines(hash: string): { from: number; to: number } | null {
  const found = /^#L([1-9]\d{0,8})(?:-L?([1-9]\d{0,8}))?$/.exec(hash);
  if (!found) return null;
  const [one, other] = [Number(found[1]), Number(found[2] ?? found[1])];
  return { from: Math.min(one, other), to: Math.max(one, other) };
}

export const linesHash = ({ from, to }: { from: number; to: number }): string =>
  from === to ? `#L${from}` : `#L${from}-L${to}`;
