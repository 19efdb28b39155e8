import type { api } from '@stagi/contract/api.ts';
import type { OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import {
  type ChangedFile,
  MAX_COMMIT_FILES,
  MAX_COMMIT_PATCH_CHARACTERS,
  MAX_PATCH_CHARACTERS,
  type TextEncoding,
} from '@stagi/contract/projectCode.ts';
import { rawFilesOf } from '../contentHost/codeTicket.ts';
import { type Change, type CommitDiff, type LineCounts, listChanges, patchHeader, readPatches } from '../git/diff.ts';
import { bytesOfPath } from '../git/paths.ts';
import type { Repository } from '../git/repositories.ts';
import { compareUtf16 } from '../git/utf16.ts';
import { notFound } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { readCommitAt } from './at.ts';
import { commitLines, presentCommit } from './present.ts';

type Input = ParsedInputOf<typeof api.projectCode.commit>;
type Output = OutputOf<typeof api.projectCode.commit>;

export async function viewCommit(ctx: Member, { path, ignoreWhitespace, ...at }: Input): Promise<Output> {
  const { id, repository, commit } = await readCommitAt(ctx, at);
  const bytes = bytesOfPath(path);
  if (!bytes) throw notFound();
  const options = { path: path === '' ? null : bytes, ignoreWhitespace };
  const [listed, read, parents] = await Promise.all([
    listChanges(repository, commit, options),
    readPatches(repository, commit, { ...options, maxBytes: MAX_COMMIT_PATCH_CHARACTERS }),
    commitLines(repository, commit.parents),
  ]);
  const { diff, patches, encodings } = await withUtf16(repository, listed, read.patches, ignoreWhitespace);
  const { last } = read;
  // Without its white space such a file is unchanged.
  const changes = diff.changes.filter((change) => !ignoreWhitespace || isChanged(change, diff.counts));
  const counted = changes.map(({ path: name }) => diff.counts.get(name));
  const sum = (of: (counts: NonNullable<LineCounts>) => number): number =>
    counted.reduce((total, counts) => total + (counts ? of(counts) : 0), 0);
  const [parent] = commit.parents;
  return {
    isSuccess: true,
    entity: presentCommit(commit, parents),
    files: changes
      .slice(0, MAX_COMMIT_FILES)
      .map((change) => presentChange(change, diff.counts, patches, last, encodings)),
    totals: {
      files: changes.length,
      additions: sum(({ additions }) => additions),
      deletions: sum(({ deletions }) => deletions),
    },
    isMore: diff.isCut || changes.length > MAX_COMMIT_FILES,
    raw: rawFilesOf(ctx, id, commit.sha),
    parentRaw: parent ? rawFilesOf(ctx, id, parent) : null,
  };
}

/** Texts in UTF-16 are binary to git: they get their lines. */
async function withUtf16(
  repository: Repository,
  diff: CommitDiff,
  patches: ReadonlyMap<string, string>,
  ignoreWhitespace: boolean,
): Promise<{
  diff: CommitDiff;
  patches: ReadonlyMap<string, string>;
  encodings: ReadonlyMap<string, TextEncoding>;
}> {
  const binary = diff.changes.filter(({ path, status }) => status !== 'type-changed' && diff.counts.get(path) === null);
  const texts = await compareUtf16(repository, binary, { ignoreWhitespace });
  const lines = new Map(patches);
  for (const change of binary) {
    const text = texts.get(change.path);
    if (!text) continue;
    const header = patchHeader(change);
    if (text.patch === null) lines.delete(header);
    else lines.set(header, text.patch);
  }
  const counts = [...texts].map(([path, text]) => [path, text.counts] as const);
  return {
    diff: { ...diff, counts: new Map([...diff.counts, ...counts]) },
    patches: lines,
    encodings: new Map([...texts].map(([path, { encoding }]) => [path, encoding])),
  };
}

const isChanged = ({ status, oldMode, mode, path }: Change, counts: ReadonlyMap<string, LineCounts>): boolean =>
  status !== 'modified' || oldMode !== mode || counts.has(path);

function presentChange(
  change: Change,
  counts: ReadonlyMap<string, LineCounts>,
  patches: ReadonlyMap<string, string>,
  last: string | null,
  encodings: ReadonlyMap<string, TextEncoding>,
): ChangedFile {
  const header = patchHeader(change);
  const whole = patches.get(header) ?? null;
  const count = counts.get(change.path);
  const isBinary = count === null;
  const encoding = encodings.get(change.path);
  const patch = whole !== null && whole.length > MAX_PATCH_CHARACTERS ? cutAtLine(whole) : whole;
  const hasLines = count !== undefined && count !== null && count.additions + count.deletions > 0;
  return {
    ...change,
    isBinary,
    ...(encoding && { encoding }),
    additions: count?.additions ?? (isBinary ? null : 0),
    deletions: count?.deletions ?? (isBinary ? null : 0),
    patch: isBinary ? null : patch,
    isCut: !isBinary && (patch !== whole || header === last || (whole === null && hasLines)),
  };
}

function cutAtLine(patch: string): string {
  const part = patch.slice(0, MAX_PATCH_CHARACTERS);
  return part.slice(0, part.lastIndexOf('\n') + 1);
}
