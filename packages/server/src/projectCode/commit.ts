import type { api } from '@stagi/contract/api.ts';
import type { OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import {
  type ChangedFile,
  MAX_COMMIT_FILES,
  MAX_COMMIT_PATCH_CHARACTERS,
  MAX_PATCH_CHARACTERS,
} from '@stagi/contract/projectCode.ts';
import { rawFilesOf } from '../contentHost/codeTicket.ts';
import { type Change, type LineCounts, listChanges, patchHeader, readPatches } from '../git/diff.ts';
import { splitPath } from '../git/paths.ts';
import { notFound } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { readCommitAt } from './at.ts';
import { commitLines, presentCommit } from './present.ts';

type Input = ParsedInputOf<typeof api.projectCode.commit>;
type Output = OutputOf<typeof api.projectCode.commit>;

export async function viewCommit(ctx: Member, { path, ignoreWhitespace, ...at }: Input): Promise<Output> {
  const { id, repository, commit } = await readCommitAt(ctx, at);
  if (!splitPath(path)) throw notFound();
  const options = { path: path === '' ? null : Buffer.from(path), ignoreWhitespace };
  const [diff, { patches, last }, parents] = await Promise.all([
    listChanges(repository, commit, options),
    readPatches(repository, commit, { ...options, maxBytes: MAX_COMMIT_PATCH_CHARACTERS }),
    commitLines(repository, commit.parents),
  ]);
  // Without its white space such a file is unchanged.
  const changes = diff.changes.filter((change) => !ignoreWhitespace || isChanged(change, diff.counts));
  const counted = changes.map(({ path: name }) => diff.counts.get(name));
  const sum = (of: (counts: NonNullable<LineCounts>) => number): number =>
    counted.reduce((total, counts) => total + (counts ? of(counts) : 0), 0);
  const [parent] = commit.parents;
  return {
    isSuccess: true,
    entity: presentCommit(commit, parents),
    files: changes.slice(0, MAX_COMMIT_FILES).map((change) => presentChange(change, diff.counts, patches, last)),
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

const isChanged = ({ status, oldMode, mode, path }: Change, counts: ReadonlyMap<string, LineCounts>): boolean =>
  status !== 'modified' || oldMode !== mode || counts.has(path);

function presentChange(
  change: Change,
  counts: ReadonlyMap<string, LineCounts>,
  patches: ReadonlyMap<string, string>,
  last: string | null,
): ChangedFile {
  const header = patchHeader(change);
  const whole = patches.get(header) ?? null;
  const count = counts.get(change.path);
  const isBinary = count === null;
  const patch = whole !== null && whole.length > MAX_PATCH_CHARACTERS ? cutAtLine(whole) : whole;
  const hasLines = count !== undefined && count !== null && count.additions + count.deletions > 0;
  return {
    ...change,
    isBinary,
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
