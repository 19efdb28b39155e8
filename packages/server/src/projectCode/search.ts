import type { api } from '@stagi/contract/api.ts';
import type { OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import { pathText } from '@stagi/contract/codePath.ts';
import { MAX_SEARCH_FILES, MAX_SEARCH_LINES_PER_FILE } from '@stagi/contract/projectCode.ts';
import { findPaths, grep } from '../git/grep.ts';
import { walkTo } from '../git/walk.ts';
import { notFound } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { presentReading, readAt } from './at.ts';

type Input = ParsedInputOf<typeof api.projectCode.search>;
type Output = OutputOf<typeof api.projectCode.search>;

const MAX_PATHS = 50;

export async function searchCode(ctx: Member, { path, query, matchCase, ...at }: Input): Promise<Output> {
  const reading = await readAt(ctx, at);
  const { repository, commit } = reading;
  if (!commit) {
    if (path !== '') throw notFound();
    return { ...presentReading(reading), paths: [], files: [], isMore: false };
  }
  const { tree, path: bytes } = await walkTo(repository, commit.tree, path);
  const [lines, names] = await Promise.all([
    grep(
      repository,
      { commit: commit.sha, path: bytes, query, matchCase },
      { files: MAX_SEARCH_FILES, linesPerFile: MAX_SEARCH_LINES_PER_FILE },
    ),
    tree
      ? findPaths(repository, { tree, below: pathText(bytes), query, matchCase }, MAX_PATHS)
      : { paths: [], isMore: false },
  ]);
  return {
    ...presentReading(reading),
    paths: names.paths,
    files: lines.files,
    isMore: lines.isMore || names.isMore,
  };
}
