import type { api } from '@stagi/contract/api.ts';
import type { OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import { pathText } from '@stagi/contract/codePath.ts';
import { type CommitLine, MAX_TREE_ENTRIES, type TreeEntry } from '@stagi/contract/projectCode.ts';
import { rawFilesOf } from '../contentHost/codeTicket.ts';
import { findLastCommit, findLastCommits } from '../git/lastCommits.ts';
import type { StoredEntry } from '../git/parseObjects.ts';
import type { Repository } from '../git/repositories.ts';
import { typeOf, walkTo } from '../git/walk.ts';
import { notFound } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { presentReading, readAt } from './at.ts';
import { commitLines, presentCommitLine } from './present.ts';

type Input = ParsedInputOf<typeof api.projectCode.tree>;
type Output = OutputOf<typeof api.projectCode.tree>;

/** Markdown before other kinds. */
const READMES = [/^readme\.(md|markdown)$/i, /^readme\.(rst|txt|adoc|org)$/i, /^readme$/i];

export async function viewTree(ctx: Member, { path: asked, lastCommits, ...at }: Input): Promise<Output> {
  const reading = await readAt(ctx, at);
  const { repository, commit } = reading;
  if (!commit) {
    if (asked !== '') throw notFound();
    return {
      ...presentReading(reading),
      path: '',
      entries: [],
      isMore: false,
      lastCommit: null,
      readme: null,
      raw: null,
    };
  }
  const { path: bytes, tree, entry } = await walkTo(repository, commit.tree, asked);
  const path = pathText(bytes);
  const stored = tree ? await repository.tree(tree) : null;
  if (!stored) throw notFound();
  const shown = stored.toSorted(foldersFirst).slice(0, MAX_TREE_ENTRIES);
  const folder = { commit: commit.sha, path: bytes, entries: shown };
  const [sizes, lines, lastCommit] = await Promise.all([
    sizesOf(repository, shown),
    lastCommits ? linesOf(repository, folder) : new Map<string, CommitLine>(),
    entry && lastCommits ? lastCommitOf(repository, folder) : presentCommitLine(commit),
  ]);
  const pathOf = (name: string): string => (path === '' ? name : `${path}/${name}`);
  const readme = READMES.map((pattern) => shown.find((one) => typeOf(one) === 'blob' && pattern.test(one.name))).find(
    Boolean,
  );
  return {
    ...presentReading(reading),
    path,
    entries: shown.map(
      (one): TreeEntry => ({
        name: one.name,
        path: pathOf(one.name),
        type: typeOf(one),
        mode: one.mode,
        sha: one.sha,
        size: sizes.get(one.sha) ?? null,
        lastCommit: lines.get(one.name) ?? null,
      }),
    ),
    isMore: stored.length > shown.length,
    lastCommit,
    readme: readme ? { name: readme.name, path: pathOf(readme.name), sha: readme.sha } : null,
    raw: rawFilesOf(ctx, reading.id, commit.sha),
  };
}

/** The last commit of what a path leads to. */
export async function lastCommitOf(
  repository: Repository,
  at: Parameters<typeof findLastCommit>[1],
): Promise<CommitLine | null> {
  const sha = await findLastCommit(repository, at);
  const [line] = sha ? await commitLines(repository, [sha]) : [];
  return line ?? null;
}

async function linesOf(
  repository: Repository,
  folder: Parameters<typeof findLastCommits>[1],
): Promise<Map<string, CommitLine>> {
  const found = await findLastCommits(repository, folder);
  const lines = await commitLines(repository, [...new Set(found.values())]);
  const bySha = new Map(lines.map((line) => [line.sha, line]));
  return new Map(
    [...found].flatMap(([name, sha]) => {
      const line = bySha.get(sha);
      return line ? [[name, line] as const] : [];
    }),
  );
}

async function sizesOf(repository: Repository, entries: readonly StoredEntry[]): Promise<Map<string, number>> {
  const files = entries.filter((entry) => ['blob', 'symlink'].includes(typeOf(entry)));
  const infos = await Promise.all(files.map(({ sha }) => repository.info(sha)));
  return new Map(files.flatMap(({ sha }, n) => (infos[n] ? [[sha, infos[n].size] as const] : [])));
}

function foldersFirst(a: StoredEntry, b: StoredEntry): number {
  const rank = (entry: StoredEntry): number => (['tree', 'submodule'].includes(typeOf(entry)) ? 0 : 1);
  return rank(a) - rank(b) || Buffer.compare(a.nameBytes, b.nameBytes);
}
