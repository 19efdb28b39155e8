import type { ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FileOperation } from '@stagi/contract/daemonFiles.ts';
import type { StreamTarget } from '@stagi/contract/daemonStreams.ts';
import { text } from '@stagi/contract/text.ts';
import { hasErrorCode } from '../atomicFile.ts';
import { archiveFolder } from '../volumes/archiveFolder.ts';
import { ensureFolder, makeFolder, removeEntry, renameEntry } from '../volumes/changeEntries.ts';
import { factsOf } from '../volumes/facts.ts';
import { listFolder } from '../volumes/listFolder.ts';
import { closing, type Folder, splitPath, withEntry, withFolder } from '../volumes/openBeneath.ts';
import { sendFile } from '../volumes/readFile.ts';
import type { UploadRecords } from '../volumes/uploadRecords.ts';
import { openVolume, type VolumeDeps } from '../volumes/volumeRoot.ts';
import { discardUpload, partialSize, receiveFile } from '../volumes/writeFile.ts';
import { RefusedStream, type StreamHandler } from './streamServer.ts';

type FileTarget = Extract<StreamTarget, { kind: 'file' }>;
type Operation<D extends FileOperation['do']> = Extract<FileOperation, { do: D }>;

/** At a time, of all containers. */
const MAX_OPERATIONS = 64;
/** An open transfer that does not move for so long is over. */
const STALLED_MS = 120_000;
/** A smaller file that comes in one piece is not recorded: it is there in a moment. */
const RECORDED_FROM_BYTES = 8 * 1024 * 1024;

export interface FileDeps extends VolumeDeps {
  uploads: UploadRecords;
}

/** Does one operation on files of a volume, beneath its directory (see `openBeneath.ts`). */
export function fileStreams(deps: FileDeps): StreamHandler<'file'> {
  let running = 0;
  /** Uploads that a stream writes to. */
  const writing = new Set<string>();

  async function serve(target: FileTarget, accept: () => Duplex): Promise<void> {
    const { containerId, volume, operation } = target;
    const root = await openVolume(deps, containerId, volume);
    await closing(root, async () => {
      if (operation.do === 'read') return read(root, operation, accept);
      if (operation.do === 'archive') return archive(root, operation, volume, accept);
      if (operation.do === 'write') return write(root, operation, target, accept);
      const answer = JSON.stringify(await answerOf(root, operation, deps));
      const stream = accept();
      stream.resume();
      stream.end(answer);
    });
  }

  /** Two streams never write to one upload. */
  async function write(
    root: Folder,
    operation: Operation<'write'>,
    { containerId, volume }: FileTarget,
    accept: () => Duplex,
  ): Promise<void> {
    const { path, upload, at, total } = operation;
    if (writing.has(upload)) throw new RefusedStream(429, text('This upload is under way already'));
    writing.add(upload);
    const isRecorded = at > 0 || total > RECORDED_FROM_BYTES;
    const { parent, name } = splitPath(path);
    try {
      if (isRecorded) await deps.uploads.keep({ containerId, volume, path, upload, at: Date.now() });
      await withFolder(root, parent, (folder) => receiveFile(folder, name, operation, stalling(accept)), ensureFolder);
    } finally {
      writing.delete(upload);
      await settle(root, operation, { containerId, volume });
    }
  }

  /** Keeps the record of what is unfinished only. */
  async function settle(
    root: Folder,
    { path, upload }: Operation<'write'>,
    of: { containerId: number; volume: string },
  ): Promise<void> {
    const { parent } = splitPath(path);
    const left = await withFolder(root, parent, (folder) => partialSize(folder, upload)).catch((error: unknown) => {
      if (error instanceof RefusedStream) return 0;
      throw error;
    });
    if (left > 0) await deps.uploads.keep({ ...of, path, upload, at: Date.now() });
    else await deps.uploads.forget(upload);
  }

  return async (target, accept) => {
    if (running >= MAX_OPERATIONS) throw new RefusedStream(429, text('Too many files are being transferred at once'));
    running += 1;
    try {
      await serve(target, accept);
    } catch (error) {
      throw refusalOf(error);
    } finally {
      running -= 1;
    }
  };
}

async function answerOf(
  root: Folder,
  operation: Operation<'list' | 'stat' | 'partial' | 'discard' | 'mkdir' | 'rename' | 'remove'>,
  { uploads }: FileDeps,
): Promise<object> {
  const { parent, name } = splitPath(operation.path);
  switch (operation.do) {
    case 'list':
      return withFolder(root, operation.path, (folder) => listFolder(folder, operation));
    case 'stat':
      if (operation.path === '') return factsOf(await root.handle.stat({ bigint: true }));
      return withFolder(root, parent, (folder) => withEntry(folder, name, async ({ stats }) => factsOf(stats)));
    case 'partial':
      return { sizeBytes: await partialOf(root, parent, operation.upload) };
    case 'discard':
      await withFolder(root, parent, (folder) => discardUpload(folder, operation.upload));
      await uploads.forget(operation.upload);
      return {};
    case 'mkdir':
      await withFolder(root, parent, (folder) => makeFolder(folder, name));
      return {};
    case 'rename': {
      const to = splitPath(operation.to);
      await withFolder(root, parent, (from) =>
        withFolder(root, to.parent, (folder) => renameEntry(from, name, folder, to.name)),
      );
      return {};
    }
    case 'remove':
      return withFolder(root, parent, (folder) => removeEntry(folder, name));
    default:
      return operation satisfies never;
  }
}

/** Of a folder that the upload is about to make, nothing is there. */
async function partialOf(root: Folder, parent: string, upload: string): Promise<number> {
  try {
    return await withFolder(root, parent, (folder) => partialSize(folder, upload));
  } catch (error) {
    if (error instanceof RefusedStream && error.status === 404) return 0;
    throw error;
  }
}

async function read(root: Folder, operation: Operation<'read'>, accept: () => Duplex): Promise<void> {
  const { parent, name } = splitPath(operation.path);
  await withFolder(root, parent, (folder) =>
    withEntry(folder, name, (entry) => sendFile(entry, operation, stalling(accept))),
  );
}

async function archive(
  root: Folder,
  { path }: Operation<'archive'>,
  volume: string,
  accept: () => Duplex,
): Promise<void> {
  const top = splitPath(path === '' ? volume : path).name;
  await withFolder(root, path, async (folder) => {
    const stream = stalling(accept)();
    const over = new AbortController();
    stream.once('close', () => over.abort());
    await pipeline(archiveFolder(folder, top, over.signal), stream);
  });
}

/** The stream, which is cut off when nothing moves on it. */
const stalling = (accept: () => Duplex) => (): Duplex => {
  const stream = accept() as ServerHttp2Stream;
  stream.setTimeout(STALLED_MS, () => stream.destroy(new Error('nothing moved on the stream')));
  return stream;
};

/** What the system says, as a person can use it. */
function refusalOf(error: unknown): unknown {
  if (hasErrorCode(error, 'ENOENT')) return new RefusedStream(404, text('There is no such file or folder'));
  if (hasErrorCode(error, 'EACCES', 'EPERM', 'EROFS'))
    return new RefusedStream(403, text('The server does not allow this on its disk'));
  if (hasErrorCode(error, 'ENOSPC', 'EDQUOT'))
    return new RefusedStream(507, text('The disk of this volume is full: delete something'));
  if (hasErrorCode(error, 'ENAMETOOLONG')) return new RefusedStream(409, text('Name is too long: at most 255 bytes'));
  if (hasErrorCode(error, 'ENOTEMPTY'))
    return new RefusedStream(409, text('The folder is being written to: stop what writes to it'));
  if (hasErrorCode(error, 'EMFILE', 'ENFILE'))
    return new RefusedStream(429, text('Too many files are being transferred at once'));
  return error;
}
