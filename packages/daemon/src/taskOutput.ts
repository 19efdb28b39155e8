import type { Readable } from 'node:stream';
import { TASK_OUTPUT_PATH_MAX_BYTES, TASK_PUT_MAX_BYTES } from '@stagi/contract/taskTransfer.ts';
import { text } from '@stagi/contract/text.ts';
import type { Entry } from 'tar-stream';
import type { ArchiveEngine } from './dockerArchive.ts';
import type { TaskPlatform } from './taskPlatform.ts';
import { entriesOf } from './taskTar.ts';
import { TransferError } from './transferError.ts';

const BATCH_FILES = 100;
const PARALLEL_PUTS = 8;
const PART_LINKS = 10;

/** What of an output is uploaded, and the bytes of the file under way. */
export interface SavedOutput {
  /** How many entries of the archive are done with. Docker gives them in the same order each time. */
  entries: number;
  files: number;
  bytes: number;
  skipped: number;
}

interface Batch {
  files: { path: string; body: Buffer }[];
  bytes: number;
  entries: number;
  skipped: number;
}

/**
 * Uploads the files of a directory of a container that has ended, from the entry on at which an earlier attempt broke
 * off; `saved` grows meanwhile. While one batch or part is uploaded the next one is read, so that two of at most
 * `TASK_PUT_MAX_BYTES`, or of the size of a part, are in memory.
 */
export async function saveOutput(about: {
  engine: ArchiveEngine;
  platform: TaskPlatform;
  dockerId: string;
  outputPath: string;
  saved: SavedOutput;
  onProgress(bytes: number): void;
  signal: AbortSignal;
}): Promise<void> {
  const { engine, platform, dockerId, outputPath, saved, signal } = about;
  const already = saved.entries;
  const hardLinks: string[] = [];
  let tooLong: string | null = null;
  let index = 0;
  let batch = emptyBatch();
  let uploading: Promise<void> = Promise.resolve();

  /** Begins the upload of the batch once the one before has ended. */
  async function flush(): Promise<void> {
    await uploading;
    const full = batch;
    batch = emptyBatch();
    uploading = putBatch(platform, full).then(() => {
      saved.entries += full.entries;
      saved.files += full.files.length;
      saved.bytes += full.bytes;
      saved.skipped += full.skipped;
      about.onProgress(saved.bytes);
    });
    // Its error is thrown by the next wait for it.
    uploading.catch(() => {});
  }
  async function take(path: string, entry: Entry): Promise<void> {
    const { type, size = 0 } = entry.header;
    if (index++ < already) return void entry.resume();
    const isTooLong = Buffer.byteLength(path) > TASK_OUTPUT_PATH_MAX_BYTES;
    if (isTooLong) tooLong ??= path;
    if (type !== 'file' || isTooLong) {
      entry.resume();
      batch.entries++;
      if (type !== 'file') batch.skipped++;
    } else if (size > TASK_PUT_MAX_BYTES) {
      await flush();
      await uploading;
      await putLarge(platform, path, size, entry, (bytes) => about.onProgress(saved.bytes + bytes));
      saved.entries++;
      saved.files++;
      saved.bytes += size;
    } else {
      if (batch.files.length === BATCH_FILES || batch.bytes + size > TASK_PUT_MAX_BYTES) await flush();
      batch.files.push({ path, body: await wholeOf(entry, size) });
      batch.bytes += size;
      batch.entries++;
    }
  }

  async function takeDirectory(archive: Readable): Promise<void> {
    for await (const entry of entriesOf(archive)) {
      const path = entry.header.name.replace(/^\.\//, '').replace(/\/$/, '');
      if (entry.header.type === 'link') hardLinks.push(path);
      if (entry.header.type === 'link' || entry.header.type === 'directory') entry.resume();
      else await take(path, entry);
    }
  }
  async function takeFile(path: string, archive: Readable): Promise<void> {
    for await (const entry of entriesOf(archive)) await take(path, entry);
  }

  try {
    // With `/.` a symbolic link in place of the directory is followed, within the container.
    await engine.readArchive(dockerId, `${outputPath}/.`, takeDirectory, signal);
    // Further names of a file: the archive has its content under the first one only.
    for (const path of hardLinks)
      await engine.readArchive(dockerId, `${outputPath}/${path}`, (archive) => takeFile(path, archive), signal);
    await flush();
    await uploading;
  } finally {
    // The next attempt must not begin before this one has ended.
    await Promise.allSettled([uploading]);
  }
  if (tooLong !== null)
    throw new TransferError(text('The path of an output file is too long: {{path}}', { path: tooLong }), 'final');
}

function emptyBatch(): Batch {
  return { files: [], bytes: 0, entries: 0, skipped: 0 };
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

async function putLarge(
  platform: TaskPlatform,
  path: string,
  sizeBytes: number,
  chunks: AsyncIterable<Buffer>,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const { uploadId, partBytes } = await platform.beginUpload({ path, sizeBytes });
  const count = Math.ceil(sizeBytes / partBytes);
  let links = new Map<number, string>();
  let number = 0;
  let uploading: Promise<void> = Promise.resolve();
  try {
    for await (const part of pieces(chunks, partBytes, sizeBytes)) {
      number++;
      await uploading;
      onBytes((number - 1) * partBytes);
      if (!links.has(number)) {
        const numbers = Array.from({ length: Math.min(PART_LINKS, count - number + 1) }, (_, more) => number + more);
        links = await platform.partLinks(path, uploadId, numbers);
      }
      uploading = platform.putObject(linkOf(links, number), part);
      // Its error is thrown by the next wait for it.
      uploading.catch(() => {});
    }
  } finally {
    await Promise.allSettled([uploading]);
  }
  await uploading;
  await platform.completeUpload(path, uploadId);
}

function linkOf<K>(links: Map<K, string>, of: K): string {
  const url = links.get(of);
  if (url === undefined) throw new TransferError(text('The answer of the platform is not valid'), 'later');
  return url;
}

async function wholeOf(chunks: AsyncIterable<Buffer>, size: number): Promise<Buffer> {
  let whole: Buffer = Buffer.alloc(0);
  // Read to its end: an entry that is left early ends the archive.
  for await (const piece of pieces(chunks, size, size)) whole = piece;
  return whole;
}

/** The bytes in pieces of one size, the last one shorter. */
async function* pieces(chunks: AsyncIterable<Buffer>, pieceBytes: number, totalBytes: number): AsyncGenerator<Buffer> {
  let left = totalBytes;
  let piece: Buffer = Buffer.alloc(0);
  let filled = 0;
  for await (let chunk of chunks) {
    while (chunk.length > 0) {
      if (filled === 0) piece = Buffer.allocUnsafeSlow(Math.min(pieceBytes, left));
      const taken = chunk.copy(piece, filled);
      chunk = chunk.subarray(taken);
      filled += taken;
      left -= taken;
      if (filled < piece.length) continue;
      yield piece;
      filled = 0;
    }
  }
}
