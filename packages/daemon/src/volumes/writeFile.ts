import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rename, statfs, unlink } from 'node:fs/promises';
import type { Duplex, Readable } from 'node:stream';
import type { FileOperation, Replaces, Written } from '@stagi/contract/daemonFiles.ts';
import { text } from '@stagi/contract/text.ts';
import { UPLOAD_PREFIX } from '@stagi/contract/volumePaths.ts';
import { hasErrorCode } from '../atomicFile.ts';
import { RefusedStream } from '../streams/streamServer.ts';
import { factsOf } from './facts.ts';
import { linked } from './moveEntry.ts';
import { beneath, type Entry, type Folder, openContent, openEntry } from './openBeneath.ts';
import { hasChanged } from './readFile.ts';

type Writing = Extract<FileOperation, { do: 'write' }>;

const NEW_FILE_MODE = 0o644;
const DRAFT_MODE = 0o600;

const draftName = (upload: string): string => UPLOAD_PREFIX + upload;

/**
 * Takes bytes into a draft beside the file. Once all have come the draft gets the file's name, in one step. What has come
 * when the stream breaks off is kept.
 */
export async function receiveFile(
  folder: Folder,
  name: string,
  { at, total, upload, replaces }: Pick<Writing, 'at' | 'total' | 'upload' | 'replaces'>,
  accept: () => Duplex,
): Promise<void> {
  await requireReplaceable(folder, name, replaces);
  await requireSpace(folder, total - at);
  const draft = await openDraft(folder, upload, at);
  let stream: Duplex;
  let answer: Written;
  try {
    stream = accept();
    const size = await receive(draft, stream, at, total);
    if (size < total) answer = { state: 'partial', sizeBytes: size };
    else {
      await adopt(draft, folder, name);
      await draft.sync();
      await requireReplaceable(folder, name, replaces);
      await place(folder, draftName(upload), name, replaces);
      await syncFolder(folder);
      answer = { state: 'done', facts: factsOf(await draft.stat({ bigint: true })) };
    }
  } catch (error) {
    // Of a stream that broke off the bytes are kept, to go on with.
    if (!(isDiskFull(error) || error instanceof RefusedStream)) throw error;
    // A full disk harms what runs there: what has come is given up.
    await discardUpload(folder, upload);
    if (!stream!) throw isDiskFull(error) ? diskFull() : error;
    const { status, message: reason } = isDiskFull(error) ? diskFull() : (error as RefusedStream);
    answer = { state: 'refused', status, reason };
  } finally {
    await draft.close();
  }
  // What still comes is of no use.
  stream.resume();
  stream.end(JSON.stringify(answer));
}

/** How much of an upload is there. */
export async function partialSize(folder: Folder, upload: string): Promise<number> {
  try {
    return Number((await lstat(beneath(folder, draftName(upload)), { bigint: true })).size);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return 0;
    throw error;
  }
}

export async function discardUpload(folder: Folder, upload: string): Promise<void> {
  try {
    await unlink(beneath(folder, draftName(upload)));
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw error;
  }
}

/** The draft with its first `at` bytes. It is our own: a regular file of this one name. */
async function openDraft(folder: Folder, upload: string, at: number): Promise<FileHandle> {
  const path = beneath(folder, draftName(upload));
  const existing = await openEntry(folder, draftName(upload));
  if (!existing) {
    if (at > 0) throw new RefusedStream(409, text('This upload is not there any more: begin it again'));
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, DRAFT_MODE);
  }
  try {
    if (existing.kind !== 'file' || existing.stats.nlink !== 1n || existing.mount !== folder.mount)
      throw new RefusedStream(409, text('Something else has the name of this upload'));
    const draft = await openContent(existing, constants.O_WRONLY);
    try {
      const size = Number((await draft.stat({ bigint: true })).size);
      if (size < at)
        throw new RefusedStream(409, text('Bytes of this upload are missing: ask how much of it is there'));
      await draft.truncate(at);
      return draft;
    } catch (error) {
      await draft.close();
      throw error;
    }
  } finally {
    await existing.handle.close();
  }
}

/** Returns how much is in the draft after the stream's end. */
async function receive(draft: FileHandle, stream: Readable, at: number, total: number): Promise<number> {
  let size = at;
  // The answer goes out on the same stream.
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (size + chunk.length > total) throw new RefusedStream(409, text('More bytes came than were announced'));
    for (let written = 0; written < chunk.length; ) {
      const { bytesWritten } = await draft.write(chunk, written, chunk.length - written, size + written);
      written += bytesWritten;
    }
    size += chunk.length;
  }
  return size;
}

/** Owner and mode of the file that is replaced; those of a new file are the folder's owner and the usual mode. */
async function adopt(draft: FileHandle, folder: Folder, name: string): Promise<void> {
  const replaced = await openEntry(folder, name);
  try {
    const stats = replaced?.kind === 'file' ? replaced.stats : await folder.handle.stat({ bigint: true });
    await draft.chown(Number(stats.uid), Number(stats.gid));
    // Without the bits that lend the owner's rights.
    await draft.chmod(replaced?.kind === 'file' ? Number(stats.mode) & 0o777 : NEW_FILE_MODE);
  } finally {
    await replaced?.handle.close();
  }
}

async function requireReplaceable(folder: Folder, name: string, replaces: Replaces): Promise<void> {
  const entry = await openEntry(folder, name);
  try {
    requireAllowed(entry, replaces);
  } finally {
    await entry?.handle.close();
  }
}

function requireAllowed(entry: Entry | null, replaces: Replaces): void {
  if (!entry) {
    if ('etag' in replaces) throw hasChanged();
    return;
  }
  if (entry.kind === 'folder') throw new RefusedStream(409, text('There is a folder of this name'));
  if (entry.kind !== 'file')
    throw new RefusedStream(409, text('Only files and folders can be opened, no links and no devices'));
  if ('nothing' in replaces) throw fileThere();
  if ('etag' in replaces && replaces.etag !== factsOf(entry.stats).etag) throw hasChanged();
}

/** Gives the draft its name. What a container has put there meanwhile is replaced only where that is allowed. */
async function place(folder: Folder, draft: string, name: string, replaces: Replaces): Promise<void> {
  try {
    if ('nothing' in replaces && (await linked(beneath(folder, draft), beneath(folder, name))))
      return await unlink(beneath(folder, draft));
  } catch (error) {
    throw hasErrorCode(error, 'EEXIST') ? fileThere() : error;
  }
  await rename(beneath(folder, draft), beneath(folder, name));
}

async function requireSpace(folder: Folder, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(beneath(folder, '.'), { bigint: true });
  if (bavail * bsize < BigInt(bytes)) throw diskFull();
}

const fileThere = (): RefusedStream => new RefusedStream(409, text('There is a file of this name'));
const diskFull = (): RefusedStream => new RefusedStream(507, text('The disk of this volume is full: delete something'));
const isDiskFull = (error: unknown): boolean => hasErrorCode(error, 'ENOSPC', 'EDQUOT');

export async function syncFolder(folder: Folder): Promise<void> {
  const handle = await open(beneath(folder, '.'), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
