import type { Readable } from 'node:stream';
import { TASK_OUTPUT_PATH_MAX_BYTES, TASK_PUT_MAX_BYTES } from '@stagi/contract/taskTransfer.ts';
import { text } from '@stagi/contract/text.ts';
import type { Entry } from 'tar-stream';
import { type ByteReader, byteReader } from './byteReader.ts';
import type { ArchiveEngine } from './dockerArchive.ts';
import type { Slots } from './slots.ts';
import type { TaskPlatform } from './taskPlatform.ts';
import { entriesOf, MAX_NAME_BYTES } from './taskTar.ts';
import { TransferError } from './transferError.ts';

const BATCH_FILES = 100;
const BATCH_BYTES = 8 * 1024 * 1024;
const PARALLEL_PUTS = 8;
const PART_LINKS = 10;

/** What of an output is uploaded, and the bytes of the file under way. */
export interface SavedOutput {
  /** How many entries of the archive are done with. Docker gives them in the same order each time. */
  entries: number;
  files: number;
  bytes: number;
  skipped: number;
  /** A large file of which some parts are uploaded: the next entry. */
  partial: { uploadId: string; partBytes: number; parts: number } | null;
}

interface LargeFile {
  path: string;
  sizeBytes: number;
}

interface Batch {
  files: { path: string; body: Buffer }[];
  bytes: number;
  entries: number;
  skipped: number;
  /** Gives back the slot of a larger file. */
  release(): void;
}

export interface Saving {
  engine: ArchiveEngine;
  platform: TaskPlatform;
  dockerId: string;
  outputPath: string;
  saved: SavedOutput;
  /** Each file of more than `BATCH_BYTES`, and each part, has one while it is in memory. All runs share them. */
  slots: Slots;
  onProgress(bytes: number): void;
  signal: AbortSignal;
}

/**
 * Uploads the files of a directory of a container that has ended, from the entry on at which an earlier attempt broke
 * off; `saved` grows meanwhile. While one batch or part is uploaded the next one is read.
 */
export async function saveOutput(about: Saving): Promise<void> {
  const { engine, platform, dockerId, outputPath, saved, slots, signal } = about;
  const already = saved.entries;
  const hardLinks: string[] = [];
  /** Why a file was left out: the first one. */
  let unstorable: string | null = null;
  let index = 0;
  let batch = emptyBatch();
  let uploading: Promise<void> = Promise.resolve();

  /** Begins the upload of the batch once the one before has ended. */
  async function flush(): Promise<void> {
    const full = batch;
    batch = emptyBatch();
    const before = uploading;
    uploading = before
      .then(() => putBatch(platform, full))
      .finally(full.release)
      .then(() => {
        saved.entries += full.entries;
        saved.files += full.files.length;
        saved.bytes += full.bytes;
        saved.skipped += full.skipped;
        about.onProgress(saved.bytes);
      });
    // Its error is thrown by the next wait for it.
    uploading.catch(() => {});
    await before;
  }
  async function take(path: string, entry: Entry): Promise<void> {
    const { type, size = 0 } = entry.header;
    const refusal = type === 'file' ? refusalOf(path) : null;
    unstorable ??= refusal;
    if (index++ < already) return void entry.resume();
    if (type !== 'file' || refusal !== null) {
      entry.resume();
      batch.entries++;
      if (type !== 'file') batch.skipped++;
      return;
    }
    const content = byteReader(entry);
    if (size > TASK_PUT_MAX_BYTES) {
      await flush();
      await uploading;
      await putLarge(about, { path, sizeBytes: size }, content);
      saved.entries++;
      saved.files++;
      saved.bytes += size;
    } else {
      if (batch.files.length === BATCH_FILES || batch.bytes + size > BATCH_BYTES) await flush();
      if (size > BATCH_BYTES) batch.release = await slots.take(signal);
      batch.files.push({ path, body: await content.read(size) });
      batch.bytes += size;
      batch.entries++;
      if (size > BATCH_BYTES) await flush();
    }
    await content.finish();
  }

  async function takeDirectory(archive: Readable): Promise<void> {
    for await (const entry of entriesOf(archive)) {
      const path = entry.header.name.replace(/^\.\//, '').replace(/\/$/, '');
      if (entry.header.type === 'link') hardLinks.push(path);
      if (entry.header.type === 'link' || entry.header.type === 'directory') entry.resume();
      else await take(path, entry);
    }
  }
  /** Returns false when nothing is there. */
  function readFile(path: string): Promise<boolean> {
    const takeFile = async (archive: Readable) => {
      for await (const entry of entriesOf(archive)) await take(path, entry);
    };
    return engine.readArchive(dockerId, `${outputPath}/${path}`, takeFile, signal);
  }

  try {
    // With `/.` a symbolic link in place of the directory is followed, within the container.
    await engine.readArchive(dockerId, `${outputPath}/.`, takeDirectory, signal);
    // Further names of a file: the archive has its content under the first one only.
    for (const path of hardLinks) {
      const refusal = refusalOf(path);
      const isRead = refusal === null && (await readFile(path));
      if (!isRead) unstorable ??= refusal ?? text('An output file cannot be read: {{path}}', { path });
    }
    await flush();
    await uploading;
  } finally {
    batch.release();
    // The next attempt must not begin before this one has ended.
    await Promise.allSettled([uploading]);
  }
  if (unstorable !== null) throw new TransferError(unstorable, 'final');
}

/**
 * Why no file of this path can be stored, for a person; null: it can. What is not UTF-8 has become U+FFFD, so that
 * several files may have the same path here.
 */
function refusalOf(path: string): string | null {
  if (path.includes('\uFFFD')) return text('The path of an output file is not UTF-8: {{path}}', { path });
  const isTooLong =
    Buffer.byteLength(path) > TASK_OUTPUT_PATH_MAX_BYTES ||
    path.split('/').some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES);
  return isTooLong ? text('The path of an output file is too long: {{path}}', { path }) : null;
}

function emptyBatch(): Batch {
  return { files: [], bytes: 0, entries: 0, skipped: 0, release: () => {} };
}

async function putBatch(platform: TaskPlatform, { files }: Batch): Promise<void> {
  if (files.length === 0) return;
  const links = await platform.outputLinks(files.map(({ path, body }) => ({ path, sizeBytes: body.length })));
  const waiting = files.values();
  const put = async () => {
    for (const { path, body } of waiting) await platform.putObject(linkOf(links, path), body);
  };
  // All of them end before this throws.
  const ends = await Promise.allSettled(Array.from({ length: PARALLEL_PUTS }, put));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Goes on after the parts that an earlier attempt has uploaded. */
async function putLarge(about: Saving, file: LargeFile, content: ByteReader): Promise<void> {
  const { platform, saved } = about;
  saved.partial ??= { ...(await platform.beginUpload(file)), parts: 0 };
  try {
    await putParts(about, file, content, saved.partial);
    await platform.completeUpload(file.path, saved.partial.uploadId);
    saved.partial = null;
  } catch (error) {
    // Refused: the upload may not be open any more.
    if (error instanceof TransferError && error.retry !== 'soon') saved.partial = null;
    throw error;
  }
}

async function putParts(
  { platform, saved, slots, signal, onProgress }: Saving,
  { path, sizeBytes }: LargeFile,
  content: ByteReader,
  partial: NonNullable<SavedOutput['partial']>,
): Promise<void> {
  const { uploadId, partBytes } = partial;
  const count = Math.ceil(sizeBytes / partBytes);
  let links = new Map<number, string>();
  let uploading: Promise<void> = Promise.resolve();
  const put = async (number: number, part: Buffer) => {
    await platform.putObject(linkOf(links, number), part);
    partial.parts = number;
    onProgress(saved.bytes + Math.min(sizeBytes, number * partBytes));
  };
  try {
    await content.skip(Math.min(sizeBytes, partial.parts * partBytes));
    for (let number = partial.parts + 1; number <= count; number++) {
      const release = await slots.take(signal);
      const before = uploading;
      const ready = (async () => {
        const part = await content.read(Math.min(partBytes, sizeBytes - (number - 1) * partBytes));
        await before;
        if (!links.has(number)) {
          const numbers = Array.from({ length: Math.min(PART_LINKS, count - number + 1) }, (_, more) => number + more);
          links = await platform.partLinks(path, uploadId, numbers);
        }
        return part;
      })();
      uploading = ready.then((part) => put(number, part)).finally(release);
      // Its error is thrown by the next wait for it.
      uploading.catch(() => {});
      await ready;
    }
    await uploading;
  } finally {
    await Promise.allSettled([uploading]);
  }
}

function linkOf<K>(links: Map<K, string>, of: K): string {
  const url = links.get(of);
  if (url === undefined) throw new TransferError(text('The answer of the platform is not valid'), 'later');
  return url;
}
