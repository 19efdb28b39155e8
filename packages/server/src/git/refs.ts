import { pathText } from '@stagi/contract/codePath.ts';
import { notFound } from '../http/errors.ts';
import { isRefName } from './paths.ts';
import type { Repository } from './repositories.ts';

export type RefKind = 'branch' | 'tag';
export interface FoundRef {
  kind: RefKind;
  /** Text of its bytes, as of names in trees (`codePath.ts`). */
  name: string;
  /** The commit that it names, or whose annotated tag it is. */
  commit: string;
}

const FOLDERS: Record<RefKind, string> = { branch: 'refs/heads/', tag: 'refs/tags/' };
/** The object itself, or what an annotated tag is of. */
const FORMAT = '--format=%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)';
/** In the text of a name (`pathText`); git allows neither a backslash nor control characters in it. */
const BYTES = /\\x[89A-F][0-9A-F]/g;
const MAX_REFS_BYTES = 64 * 1024 * 1024;

/** A branch, or else a tag, of exactly this name. Null: there is none, or it is not of a commit. */
export async function findRef(repository: Repository, name: string): Promise<FoundRef | null> {
  if (!isRefName(name.replaceAll(BYTES, 'x'))) return null;
  // Text of bytes that are no UTF-8 is no pattern for git.
  const patterns = name.includes('\\') ? Object.values(FOLDERS) : Object.values(FOLDERS).map((folder) => folder + name);
  const found = await listRefs(repository, patterns);
  const exact = found.filter((ref) => ref.name === name);
  return exact.find(({ kind }) => kind === 'branch') ?? exact[0] ?? null;
}

/** Newest commit first. */
export function listRefsOf(repository: Repository, kind: RefKind): Promise<FoundRef[]> {
  return listRefs(repository, [FOLDERS[kind].slice(0, -1)], ['--sort=-creatordate']);
}

async function listRefs(
  repository: Repository,
  patterns: readonly string[],
  options: readonly string[] = [],
): Promise<FoundRef[]> {
  const { stdout } = await repository.git(['for-each-ref', ...options, FORMAT, '--', ...patterns], {
    maxOutputBytes: MAX_REFS_BYTES,
  });
  return parseRefs(stdout);
}

function parseRefs(output: Buffer): FoundRef[] {
  return output
    .toString('latin1')
    .split('\n')
    .flatMap((line) => {
      const [refname = '', type, sha = '', peeledType, peeled = ''] = line.split('\0');
      const kind = refname.startsWith(FOLDERS.branch) ? 'branch' : refname.startsWith(FOLDERS.tag) ? 'tag' : null;
      const commit = type === 'commit' ? sha : peeledType === 'commit' ? peeled : null;
      return kind && commit ? [{ kind, name: nameOf(refname.slice(FOLDERS[kind].length)), commit }] : [];
    });
}

const nameOf = (bytes: string): string => pathText(Buffer.from(bytes, 'latin1'));

/**
 * Whether a branch or tag contains this commit: what was pushed away, or was only sent and refused, is not shown.
 * `likely` is a commit that probably does.
 */
export async function isReachable(repository: Repository, sha: string, likely: string | null): Promise<boolean> {
  if (sha === likely) return true;
  // Whether one commit contains another never changes; which refs there are does.
  const key = `within ${sha}`;
  const within = (repository.facts.get(key) ?? new Set()) as Set<string>;
  if (likely && within.has(likely)) return true;
  if (likely && (await isAncestor(repository, sha, likely))) {
    repository.facts.set(key, within.add(likely));
    return true;
  }
  const { stdout } = await repository.git([
    'for-each-ref',
    '--count=1',
    `--contains=${sha}`,
    FORMAT,
    '--',
    'refs/heads',
    'refs/tags',
  ]);
  return stdout.length > 0;
}

async function isAncestor(repository: Repository, sha: string, descendant: string): Promise<boolean> {
  const { code } = await repository.git(['merge-base', '--is-ancestor', sha, descendant], { exitCodes: [0, 1] });
  return code === 0;
}

/** Commits whose hashes begin with these digits: at least 4, as git asks for. */
export async function commitsBeginningWith(repository: Repository, digits: string): Promise<string[]> {
  if (!/^[0-9a-f]{4,40}$/.test(digits)) return [];
  const { stdout } = await repository.git(['rev-parse', `--disambiguate=${digits}`]);
  const shas = stdout.toString().split('\n').filter(Boolean);
  const found = await Promise.all(shas.map(async (sha) => ({ sha, info: await repository.info(sha) })));
  return found.filter(({ info }) => info?.type === 'commit').map(({ sha }) => sha);
}

/** Refuses what is no commit of this project: absent, not a commit, or of no branch and tag. */
export async function requireReachable(repository: Repository, sha: string, likely: string | null): Promise<void> {
  // Repositories here have hashes of 40 digits.
  const info = sha.length === 40 ? await repository.info(sha) : null;
  if (info?.type !== 'commit' || !(await isReachable(repository, sha, likely))) throw notFound();
}
