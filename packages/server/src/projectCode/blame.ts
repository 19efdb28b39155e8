import type { api } from '@stagi/contract/api.ts';
import type { OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import { pathText } from '@stagi/contract/codePath.ts';
import { MAX_TEXT_BYTES } from '@stagi/contract/projectCode.ts';
import { text } from '@stagi/contract/text.ts';
import { blame } from '../git/blame.ts';
import { textOf } from '../git/blobs.ts';
import { typeOf, walkTo } from '../git/walk.ts';
import { notFound, refused } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { presentReading, readCommitAt } from './at.ts';
import { commitLines } from './present.ts';

type Input = ParsedInputOf<typeof api.projectCode.blame>;
type Output = OutputOf<typeof api.projectCode.blame>;

export async function blameFile(ctx: Member, { path: asked, ignoreWhitespace, ...at }: Input): Promise<Output> {
  const reading = await readCommitAt(ctx, at);
  const { repository, commit } = reading;
  const { entry, path: bytes } = await walkTo(repository, commit.tree, asked);
  const path = pathText(bytes);
  if (!entry || typeOf(entry) !== 'blob') throw notFound();
  const info = await repository.info(entry.sha);
  if (!info || info.size > MAX_TEXT_BYTES) throw onlyText();
  const blob = await repository.read(entry.sha);
  if (!blob || textOf(blob.content) === null) throw onlyText();
  const ranges = await blame(repository, { commit: commit.sha, path: bytes, ignoreWhitespace });
  return {
    ...presentReading(reading),
    path,
    sha: entry.sha,
    ranges: ranges.map(({ path: there, ...range }) => ({ ...range, oldPath: there === path ? null : there })),
    commits: await commitLines(repository, [...new Set(ranges.map(({ sha }) => sha))]),
  };
}

const onlyText = () => refused(text('Only text files of up to 1 MiB show who changed each line'));
