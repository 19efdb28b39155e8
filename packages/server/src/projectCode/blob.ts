import { isUtf8 } from 'node:buffer';
import type { api } from '@stagi/contract/api.ts';
import type { OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import { pathText } from '@stagi/contract/codePath.ts';
import { type BlobContent, MAX_TEXT_BYTES } from '@stagi/contract/projectCode.ts';
import { rawFilesOf } from '../contentHost/codeTicket.ts';
import { encodingOf, imageTypeOf, lfsPointerOf, textOf } from '../git/blobs.ts';
import type { StoredCommit, StoredEntry } from '../git/parseObjects.ts';
import type { Repository } from '../git/repositories.ts';
import { submoduleUrl } from '../git/submodules.ts';
import { typeOf, walkTo } from '../git/walk.ts';
import { notFound } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { presentReading, readCommitAt } from './at.ts';
import { lastCommitOf } from './tree.ts';

type Input = ParsedInputOf<typeof api.projectCode.blob>;
type Output = OutputOf<typeof api.projectCode.blob>;

const MAX_LINK_BYTES = 4_096;

export async function viewBlob(ctx: Member, { path: asked, ...at }: Input): Promise<Output> {
  const reading = await readCommitAt(ctx, at);
  const { repository, commit } = reading;
  const { path: bytes, entry, tree } = await walkTo(repository, commit.tree, asked);
  const path = pathText(bytes);
  if (!entry || tree) throw notFound();
  const [{ size, content }, lastCommit] = await Promise.all([
    contentOf(repository, commit, path, entry),
    lastCommitOf(repository, { commit: commit.sha, path: bytes }),
  ]);
  const type = typeOf(entry);
  return {
    ...presentReading(reading),
    path,
    name: entry.name,
    type,
    mode: entry.mode,
    sha: entry.sha,
    size,
    content,
    imageType: type === 'blob' && content.kind !== 'lfs' ? imageTypeOf(entry.name) : null,
    lastCommit,
    raw: type === 'blob' ? rawFilesOf(ctx, reading.id, commit.sha) : null,
  };
}

async function contentOf(
  repository: Repository,
  commit: StoredCommit,
  path: string,
  entry: StoredEntry,
): Promise<{ size: number; content: BlobContent }> {
  if (typeOf(entry) === 'submodule') {
    const url = await submoduleUrl(repository, commit, path);
    return { size: 0, content: { kind: 'submodule', commit: entry.sha, url } };
  }
  const info = await repository.info(entry.sha);
  if (info?.type !== 'blob') throw notFound();
  const { size } = info;
  if (size > (typeOf(entry) === 'symlink' ? MAX_LINK_BYTES : MAX_TEXT_BYTES))
    return { size, content: { kind: 'too-large', limitBytes: MAX_TEXT_BYTES } };
  const blob = await repository.read(entry.sha);
  if (!blob) throw notFound();
  if (typeOf(entry) === 'symlink')
    return {
      size,
      content: { kind: 'symlink', target: isUtf8(blob.content) ? blob.content.toString() : pathText(blob.content) },
    };
  const pointer = lfsPointerOf(blob.content);
  if (pointer) return { size, content: { kind: 'lfs', ...pointer } };
  const text = textOf(blob.content);
  const encoding = encodingOf(blob.content);
  return { size, content: text === null ? { kind: 'binary' } : { kind: 'text', text, ...(encoding && { encoding }) } };
}
