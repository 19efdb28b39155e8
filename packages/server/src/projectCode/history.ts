import type { api } from '@stagi/contract/api.ts';
import type { OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import { pathText } from '@stagi/contract/codePath.ts';
import { listHistory } from '../git/history.ts';
import { bytesOfPath } from '../git/paths.ts';
import { requireReachable } from '../git/refs.ts';
import { notFound } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { presentReading, readAt } from './at.ts';
import { presentCommitLine } from './present.ts';

type Input = ParsedInputOf<typeof api.projectCode.commits>;
type Output = OutputOf<typeof api.projectCode.commits>;

/** The cursor names the commit that the history began at, so that pages fit together although more is pushed. */
export async function listCommits(ctx: Member, { path, cursor, limit, ...at }: Input): Promise<Output> {
  const reading = await readAt(ctx, at);
  const { repository, commit } = reading;
  // Something that was removed has a history, too.
  const bytes = bytesOfPath(path);
  if (!bytes) throw notFound();
  if (!commit) return { ...presentReading(reading), path, commits: [], next: null };
  const [start = commit.sha, offset = '0'] = cursor?.split('.') ?? [];
  if (start !== commit.sha) await requireReachable(repository, start, commit.sha);
  const skip = Number(offset);
  const shas = await listHistory(repository, {
    commit: start,
    path: bytes,
    skip,
    limit: limit + 1,
  });
  const commits = await Promise.all(shas.slice(0, limit).map((sha) => repository.commit(sha)));
  return {
    ...presentReading(reading),
    path: pathText(bytes),
    commits: commits.flatMap((one) => (one ? [{ ...presentCommitLine(one), parents: one.parents }] : [])),
    next: shas.length > limit ? `${start}.${skip + limit}` : null,
  };
}
