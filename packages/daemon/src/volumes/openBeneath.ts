import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { text } from '@stagi/contract/text.ts';
import type { FileKind } from '@stagi/contract/volumePaths.ts';
import { hasErrorCode } from '../atomicFile.ts';
import { RefusedStream } from '../streams/streamServer.ts';

/*
 * Files beneath a folder, while a container renames, replaces and links them. Node has no openat2(RESOLVE_BENEATH), so
 * each name is opened by itself, beneath the handle of its folder: `/proc/self/fd/{handle}/{name}`. O_NOFOLLOW opens a
 * link as the link that it is, and O_PATH opens nothing but the name: no device and no pipe notices. What the handle
 * holds is looked at, and only then opened for its content, by `/proc/self/fd/{handle}`, which leads to what was looked
 * at and to nothing else. Names are never `.` or `..`, so no step leads up.
 */
const O_PATH = 0o10000000;

/** An open folder. Its handle only leads further: `contentPath` reads it. */
export interface Folder {
  handle: FileHandle;
  /** The mount that it is on: other mounts are not entered. */
  mount: string;
}

export interface Entry extends Folder {
  kind: FileKind;
  stats: BigIntStats;
}

export const noSuchFile = (): RefusedStream => new RefusedStream(404, text('There is no such file or folder'));

/** The name beneath the folder, for calls that do not follow a link at its end. */
export function beneath(folder: Folder, name: string | Buffer): string | Buffer {
  const base = `/proc/self/fd/${folder.handle.fd}/`;
  return typeof name === 'string' ? base + name : Buffer.concat([Buffer.from(base), name]);
}

/** What the handle itself holds. */
export const contentPath = ({ handle }: Folder): string => `/proc/self/fd/${handle.fd}`;

export const openTop = (): Promise<Folder> => openAt('/');

/** Opens a directory of the server by its path, of which no part may be a link. */
export async function openRoot(path: string): Promise<Folder> {
  let folder = await openTop();
  for (const name of path.split('/').filter((part) => part !== '' && part !== '.')) {
    const entry = await closing(folder, () => openEntry(folder, name));
    if (entry?.kind !== 'folder') {
      await entry?.handle.close();
      throw new RefusedStream(409, text('The directory of this volume is missing on the server'));
    }
    folder = entry;
  }
  return folder;
}

/** Null: there is nothing of this name. The caller closes the handle. */
export async function openEntry(folder: Folder, name: string | Buffer): Promise<Entry | null> {
  try {
    return await openAt(beneath(folder, name));
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Opens the folder at `path` beneath `root` for `work`, and closes it. With `make`, folders that are missing are made. */
export async function withFolder<T>(
  root: Folder,
  path: string,
  work: (folder: Folder) => Promise<T>,
  make?: (folder: Folder, name: string) => Promise<void>,
): Promise<T> {
  let folder = root;
  try {
    for (const name of path === '' ? [] : path.split('/')) {
      if (make) await make(folder, name);
      const next = await openSubfolder(folder, name, root.mount);
      if (folder !== root) await folder.handle.close();
      folder = next;
    }
    return await work(folder);
  } finally {
    if (folder !== root) await folder.handle.close();
  }
}

async function openSubfolder(folder: Folder, name: string, mount: string): Promise<Folder> {
  const entry = await openEntry(folder, name);
  if (!entry) throw noSuchFile();
  if (entry.kind === 'folder' && entry.mount === mount) return entry;
  await entry.handle.close();
  throw entry.kind === 'folder' ? otherMount() : notAFolder();
}

/** Opens what is named for `work`, and closes it. Refuses what is not there and what is on another mount. */
export async function withEntry<T>(folder: Folder, name: string, work: (entry: Entry) => Promise<T>): Promise<T> {
  const entry = await openEntry(folder, name);
  if (!entry) throw noSuchFile();
  return closing(entry, () => {
    if (entry.mount !== folder.mount) throw otherMount();
    return work(entry);
  });
}

/** Opens a regular file for its content: the one that `entry` holds, whatever its name leads to by now. */
export async function openContent(entry: Entry, flags: number): Promise<FileHandle> {
  if (entry.kind !== 'file')
    throw new RefusedStream(409, text('Only files and folders can be opened, no links and no devices'));
  return open(contentPath(entry), flags | constants.O_NONBLOCK);
}

export async function closing<T>(folder: Folder, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } finally {
    await folder.handle.close();
  }
}

/** The folder and the last name of a path. */
export function splitPath(path: string): { parent: string; name: string } {
  const at = path.lastIndexOf('/');
  return { parent: path.slice(0, Math.max(at, 0)), name: path.slice(at + 1) };
}

const otherMount = (): RefusedStream => new RefusedStream(403, text('This is on another disk than the volume'));
const notAFolder = (): RefusedStream => new RefusedStream(409, text('This is not a folder'));

async function openAt(path: string | Buffer): Promise<Entry> {
  const handle = await open(path, O_PATH | constants.O_NOFOLLOW);
  try {
    const stats = await handle.stat({ bigint: true });
    return { handle, stats, kind: kindOf(stats), mount: await mountOf(handle) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export function kindOf(stats: BigIntStats): FileKind {
  if (stats.isDirectory()) return 'folder';
  if (stats.isFile()) return 'file';
  return stats.isSymbolicLink() ? 'link' : 'other';
}

/** By mount, not by device: a directory of the same disk may be mounted into the volume (proc_pid_fdinfo(5)). */
async function mountOf(handle: FileHandle): Promise<string> {
  const mount = /^mnt_id:\s+(\d+)$/m.exec(await readFile(`/proc/self/fdinfo/${handle.fd}`, 'utf8'))?.[1];
  if (mount === undefined) throw new Error('the system does not tell the mount of a file');
  return mount;
}
