import { randomUUID } from 'node:crypto';
import { link, lstat, mkdir, rename, rmdir, unlink } from 'node:fs/promises';
import { text } from '@stagi/contract/text.ts';
import { UPLOAD_PREFIX } from '@stagi/contract/volumePaths.ts';
import { hasErrorCode } from '../atomicFile.ts';
import { RefusedStream } from '../streams/streamServer.ts';
import { beneath, type Folder, noSuchFile, withEntry } from './openBeneath.ts';

type Path = string | Buffer;

export const isTaken = (): RefusedStream => new RefusedStream(409, text('There is something of this name already'));

/**
 * Gives an entry another name, and never replaces what a container puts there meanwhile. Node has no
 * renameat2(RENAME_NOREPLACE). A hard link cannot be made over anything, and a folder replaces an empty folder only.
 */
export async function moveEntry(from: Folder, name: string, to: Folder, newName: string): Promise<void> {
  const source = beneath(from, name);
  const target = beneath(to, newName);
  await withEntry(from, name, async ({ kind }) => {
    try {
      if (kind === 'folder') await moveFolder(source, target);
      else await moveFile(from, source, target);
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT')) throw noSuchFile();
      if (hasErrorCode(error, 'EINVAL')) throw new RefusedStream(409, text('A folder cannot be moved into itself'));
      if (hasErrorCode(error, 'EXDEV')) throw new RefusedStream(409, text('This is on another disk than the volume'));
      if (hasErrorCode(error, 'ENOTEMPTY', 'EEXIST', 'EISDIR', 'ENOTDIR')) throw isTaken();
      throw error;
    }
  });
}

/** Over an empty folder that was made for it. */
async function moveFolder(source: Path, target: Path): Promise<void> {
  await mkdir(target);
  try {
    await rename(source, target);
  } catch (error) {
    await rmdir(target).catch((left: unknown) => {
      // The container has put something in, or something else there.
      if (!hasErrorCode(left, 'ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) throw left;
    });
    throw error;
  }
}

async function moveFile(from: Folder, source: Path, target: Path): Promise<void> {
  if (!(await linked(source, target))) {
    if (await isThere(target)) throw isTaken();
    return rename(source, target);
  }
  // By now the old name may be that of another file: it is looked at under a name that nobody else uses.
  const aside = beneath(from, `${UPLOAD_PREFIX}${randomUUID()}`);
  try {
    await rename(source, aside);
  } catch (error) {
    // The container has removed it.
    if (hasErrorCode(error, 'ENOENT')) return;
    throw error;
  }
  if ((await inodeOf(aside)) !== (await inodeOf(target)))
    await linked(aside, source).catch((error: unknown) => {
      if (!hasErrorCode(error, 'EEXIST')) throw error;
    });
  await unlink(aside);
}

/** A file that is replaced while it is linked counts as gone. */
const LINK_ATTEMPTS = 5;

/** False: the file system has no hard links, or the file has as many as it may. */
export async function linked(source: Path, target: Path): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await link(source, target);
      return true;
    } catch (error) {
      if (hasErrorCode(error, 'EPERM', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) return false;
      const isAnother = hasErrorCode(error, 'ENOENT') && attempt < LINK_ATTEMPTS && (await isThere(source));
      if (!isAnother) throw error;
    }
  }
}

export const isThere = async (path: Path): Promise<boolean> => (await inodeOf(path)) !== null;

async function inodeOf(path: Path): Promise<bigint | null> {
  try {
    return (await lstat(path, { bigint: true })).ino;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return null;
    throw error;
  }
}
