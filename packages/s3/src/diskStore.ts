import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, opendir, readdir, readFile, readlink, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { BLOB_NAME, BlobMissing, type BlobStore, type StoredBlob } from './blobStore.ts';

/** Blobs that are being written. No part of a blob name begins with a dot or an underscore. */
const UNFINISHED = '.unfinished';
/** `a/b/1f3c…` lies in `a/b/_1f3/1f3c…`, so that no folder holds millions of files. */
const SHARD_LENGTH = 3;
/** Bytes that are collected for one write to the disk. */
const WRITE_BYTES = 1024 * 1024;
const READ_BYTES = 512 * 1024;
/** What a process of another container left unfinished cannot be told from what it writes, except by its age. */
const FOREIGN_KEPT_MS = 24 * 3_600_000;

/** Blobs as files below `folder`, which is created. Several processes of one machine may use the same folder. */
export async function openDiskStore(folder: string): Promise<BlobStore> {
  const owner = await ownerName(process.pid);
  const unfinished = join(folder, UNFINISHED, owner);
  await mkdir(unfinished, { recursive: true });
  await removeAbandoned(join(folder, UNFINISHED));
  const durable = new Set<string>();

  return {
    async put(name, body) {
      const path = pathOf(folder, name);
      const temporary = join(unfinished, randomUUID());
      try {
        const file = await openNew(temporary, unfinished);
        let size: number;
        try {
          size = await writeAll(file, body);
          await file.datasync();
        } finally {
          await file.close();
        }
        await place(temporary, path);
        return size;
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },

    async get(name, range) {
      return (await openBlob(folder, name)).createReadStream({
        highWaterMark: READ_BYTES,
        ...(range && { start: range.start, end: range.end }),
      }) as Readable;
    },

    async head(name) {
      return statBlob(name, pathOf(folder, name));
    },

    async *list(prefix) {
      const start = prefix === '' ? folder : join(folder, checkedName(prefix.slice(0, -1)));
      yield* walk(start, prefix);
    },

    async remove(name) {
      await rm(pathOf(folder, name), { force: true });
    },
  };

  async function place(temporary: string, path: string): Promise<void> {
    await makeDurable(dirname(path));
    try {
      await rename(temporary, path);
    } catch (error) {
      // Someone removed the folder by hand: `temporary` is still there.
      if (codeOf(error) !== 'ENOENT') throw error;
      durable.delete(dirname(path));
      await makeDurable(dirname(path));
      await rename(temporary, path);
    }
    await syncFolder(dirname(path));
  }

  /** Creates a folder so that it, too, is there after a power cut. */
  async function makeDurable(path: string): Promise<void> {
    if (durable.has(path)) return;
    await mkdir(path, { recursive: true });
    // Also where another process has just created one of them and may not have flushed it yet.
    for (let made = path; made !== folder; made = dirname(made)) await syncFolder(dirname(made));
    durable.add(path);
  }
}

function checkedName(name: string): string {
  if (!BLOB_NAME.test(name)) throw new Error(`not a blob name: ${JSON.stringify(name)}`);
  return name;
}

function pathOf(folder: string, name: string): string {
  const parts = checkedName(name).split('/');
  const last = parts.pop()!;
  return join(folder, ...parts, `_${last.slice(0, SHARD_LENGTH)}`, last);
}

/** The folder of this process is gone when someone emptied the disk by hand. */
async function openNew(path: string, folder: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    await mkdir(folder, { recursive: true });
    return open(path, 'wx', 0o600);
  }
}

/** Writes large pieces, and reads on while the disk works. */
async function writeAll(file: FileHandle, body: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0;
  let collected: Uint8Array[] = [];
  let collectedBytes = 0;
  let writing: Promise<void> = Promise.resolve();
  const flush = (): void => {
    writing = writeChunks(file, collected);
    // Awaited before the next write; a body that throws meanwhile must not leave it unhandled.
    writing.catch(() => {});
    collected = [];
    collectedBytes = 0;
  };
  try {
    for await (const chunk of body) {
      collected.push(chunk);
      collectedBytes += chunk.length;
      size += chunk.length;
      if (collectedBytes < WRITE_BYTES) continue;
      await writing;
      flush();
    }
    await writing;
    await writeChunks(file, collected);
    return size;
  } catch (error) {
    // The file is closed and removed next, so nothing may write to it any more.
    await writing.catch(() => {});
    throw error;
  }
}

/** A disk that fills up writes a part of what it was given, and fails at the next write. */
async function writeChunks(file: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  let rest = chunks.filter(({ length }) => length > 0);
  while (rest.length > 0) {
    let { bytesWritten } = await file.writev(rest);
    const next: Uint8Array[] = [];
    for (const chunk of rest) {
      if (bytesWritten < chunk.length) next.push(chunk.subarray(bytesWritten));
      bytesWritten = Math.max(0, bytesWritten - chunk.length);
    }
    rest = next;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function openBlob(folder: string, name: string): Promise<FileHandle> {
  try {
    return await open(pathOf(folder, name), 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new BlobMissing(name);
    throw error;
  }
}

async function statBlob(name: string, path: string): Promise<StoredBlob | null> {
  try {
    const { size, mtime } = await stat(path);
    return { name, size, modifiedAt: mtime };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

async function* walk(folder: string, prefix: string): AsyncIterable<StoredBlob> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.name === UNFINISHED) continue;
    if (!entry.isDirectory()) {
      const found = BLOB_NAME.test(prefix + entry.name) ? await statBlob(prefix + entry.name, path) : null;
      if (found) yield found;
    } else yield* walk(path, entry.name.startsWith('_') ? prefix : `${prefix}${entry.name}/`);
  }
}

async function entriesOf(folder: string) {
  try {
    const entries = [];
    for await (const entry of await opendir(folder)) entries.push(entry);
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Removes what processes that have ended left unfinished. */
async function removeAbandoned(folder: string): Promise<void> {
  const here = await processSpace();
  for (const owner of await readdir(folder)) {
    const [space, pid] = owner.split('-');
    const path = join(folder, owner);
    const isAbandoned =
      space === here
        ? (await ownerName(Number(pid)).catch(() => null)) !== owner
        : Date.now() - (await lastChange(path)) > FOREIGN_KEPT_MS;
    if (isAbandoned) await rm(path, { recursive: true, force: true });
  }
}

async function lastChange(folder: string): Promise<number> {
  let last = 0;
  for (const path of [folder, ...(await readdir(folder)).map((name) => join(folder, name))])
    last = Math.max(last, (await stat(path)).mtimeMs);
  return last;
}

/** Names a process so that none that gets its number later has the same name. Throws when there is no such process. */
async function ownerName(pid: number): Promise<string> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may hold anything. The start is the 20th field after it (proc(5)).
  const startedAt = status.slice(status.lastIndexOf(')') + 2).split(' ')[19];
  return `${await processSpace()}-${pid}-${startedAt}`;
}

/** Process numbers mean the same within one PID namespace only. */
async function processSpace(): Promise<string> {
  return (await readlink('/proc/self/ns/pid')).replace(/\D/g, '');
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
