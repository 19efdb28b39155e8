import { pathBytes, pathText } from '@stagi/contract/codePath.ts';
import type { StoredCommit } from './parseObjects.ts';
import type { Repository } from './repositories.ts';

export type ChangeStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'copied' | 'type-changed';

/** A file that a commit changed, as `--raw` names it. */
export interface Change {
  status: ChangeStatus;
  /** The text of a path, as `contract/src/codePath.ts` writes it; so are all paths here that are no Buffer. */
  path: string;
  oldPath: string | null;
  oldMode: string | null;
  mode: string | null;
  oldSha: string | null;
  sha: string | null;
}
/** Lines added and removed; null for a binary file. */
export type LineCounts = { additions: number; deletions: number } | null;

export interface CommitDiff {
  changes: Change[];
  /** By path; one that is missing has no counts, as only white space differs. */
  counts: ReadonlyMap<string, LineCounts>;
  /** There are more changes than were read. */
  isCut: boolean;
}

interface DiffOptions {
  /** Bytes from a walk; null: everything. */
  path: Buffer | null;
  ignoreWhitespace: boolean;
}

const STATUSES: Record<string, ChangeStatus> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type-changed',
};
/** About 30,000 files: more would stand the process still while they are read. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;

/** Which files a commit changed against its first parent. */
export async function listChanges(
  repository: Repository,
  commit: StoredCommit,
  { path, ignoreWhitespace }: DiffOptions,
): Promise<CommitDiff> {
  const { stdout, isCut } = await repository.git(
    ['diff-tree', '--raw', '--numstat', '-z', '--no-abbrev', ...sides(commit, ignoreWhitespace)],
    { ...(path && { path }), maxOutputBytes: MAX_LIST_BYTES, onLimit: 'cut' },
  );
  return { ...parseChanges(stdout), isCut };
}

/** The patches of a commit, in the order of its changes, up to so many bytes: the last one may be cut off. */
export async function readPatches(
  repository: Repository,
  commit: StoredCommit,
  { path, ignoreWhitespace, maxBytes }: DiffOptions & { maxBytes: number },
): Promise<{ patches: ReadonlyMap<string, string>; last: string | null }> {
  const { stdout, isCut } = await repository.git(
    ['-c', 'core.quotePath=false', 'diff-tree', '-p', '--full-index', '--no-color', ...sides(commit, ignoreWhitespace)],
    { ...(path && { path }), maxOutputBytes: maxBytes, onLimit: 'cut' },
  );
  const patches = splitPatches(stdout);
  return { patches, last: isCut ? ([...patches.keys()].at(-1) ?? null) : null };
}

/** Neither a program nor a filter that a repository names is run. */
function sides({ sha, parents }: StoredCommit, ignoreWhitespace: boolean): string[] {
  return [
    '-r',
    '-M',
    '--no-ext-diff',
    '--no-textconv',
    '--no-commit-id',
    '--ignore-submodules=none',
    '--submodule=short',
    ...(ignoreWhitespace ? ['--ignore-all-space', '--ignore-blank-lines'] : []),
    ...(parents[0] ? [parents[0], sha] : ['--root', sha]),
    '--',
  ];
}

/** `--raw` with `-z`: `:modes hashes status\0path\0`, of a rename two paths; then `--numstat`: `a\td\tpath\0` or `a\td\t\0old\0new\0`. */
export function parseChanges(output: Buffer): { changes: Change[]; counts: Map<string, LineCounts> } {
  // Reversed, as taking from the end is cheap.
  const fields = output.toString('latin1').split('\0').reverse();
  const take = (): string => fields.pop() ?? '';
  const takePath = (): string => textOf(take());
  const changes: Change[] = [];
  const counts = new Map<string, LineCounts>();
  while (fields.length > 0) {
    const head = take();
    const raw = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$/.exec(head);
    if (raw) {
      const [, oldMode = '', mode = '', oldSha = '', sha = '', letter = ''] = raw;
      const first = takePath();
      const isMoved = letter === 'R' || letter === 'C';
      const path = isMoved ? takePath() : first;
      changes.push({
        status: STATUSES[letter] ?? 'modified',
        path,
        oldPath: isMoved ? first : null,
        oldMode: letter === 'A' ? null : oldMode,
        mode: letter === 'D' ? null : mode,
        oldSha: letter === 'A' ? null : oldSha,
        sha: letter === 'D' ? null : sha,
      });
      continue;
    }
    const stat = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(head);
    if (!stat) continue;
    const [, added = '', removed = '', name = ''] = stat;
    let path = textOf(name);
    if (name === '') {
      take();
      path = takePath();
    }
    counts.set(path, added === '-' ? null : { additions: Number(added), deletions: Number(removed) });
  }
  return { changes, counts };
}

/** By the line that begins each, a character for a byte; lines of content begin with a blank, a sign or a backslash, so that none looks like it. */
export function splitPatches(output: Buffer): Map<string, string> {
  const patches = new Map<string, string>();
  for (const part of output.toString('latin1').split(/^(?=diff --git )/m)) {
    if (!part.startsWith('diff --git ')) continue;
    const header = part.slice(0, part.indexOf('\n') === -1 ? part.length : part.indexOf('\n'));
    // A file that became a link has two: one removes it, one adds it.
    patches.set(header, (patches.get(header) ?? '') + Buffer.from(part, 'latin1').toString());
  }
  return patches;
}

/** The line that begins the patch of a change, a character for a byte. */
export function patchHeader({ path, oldPath }: Pick<Change, 'path' | 'oldPath'>): string {
  return `diff --git ${quoted(`a/${bytesOf(oldPath ?? path)}`)} ${quoted(`b/${bytesOf(path)}`)}`;
}

const textOf = (bytes: string): string => pathText(Buffer.from(bytes, 'latin1'));
const bytesOf = (path: string): string => Buffer.from(pathBytes(path)!).toString('latin1');

const ESCAPES: Record<string, string> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
};

/** As git quotes names with special characters, when `core.quotePath` is off. */
function quoted(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what git quotes.
  const special = /[\x00-\x1f\x7f"\\]/g;
  if (!special.test(name)) return name;
  const octal = (one: string): string => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`;
  return `"${name.replace(special, (one) => ESCAPES[one] ?? octal(one))}"`;
}
