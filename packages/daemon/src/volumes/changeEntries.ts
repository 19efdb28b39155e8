import { chown, mkdir, opendir, rmdir, unlink } from 'node:fs/promises';
import { text } from '@stagi/contract/text.ts';
import { MAX_FOLDER_DEPTH } from '@stagi/contract/volumePaths.ts';
import { hasErrorCode } from '../atomicFile.ts';
import { RefusedStream } from '../streams/streamServer.ts';
import { isTaken, isThere, moveEntry } from './moveEntry.ts';
import { beneath, contentPath, type Folder, noSuchFile, openEntry, withEntry } from './openBeneath.ts';
import { syncFolder } from './writeFile.ts';

/** Removing a large folder is answered in parts. */
const REMOVE_MS = 15_000;
/** A container may put something in while it is emptied. */
const EMPTYING_ROUNDS = 3;

export async function makeFolder(folder: Folder, name: string): Promise<void> {
  try {
    await mkdir(beneath(folder, name), { mode: 0o755 });
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) throw isTaken();
    throw error;
  }
  const { uid, gid } = await folder.handle.stat();
  // By its handle: the container may have replaced it meanwhile.
  await withEntry(folder, name, async (made) => {
    if (made.kind === 'folder') await chown(contentPath(made), uid, gid);
  });
  await syncFolder(folder);
}

/** As `makeFolder`, where one may be there already. */
export async function ensureFolder(folder: Folder, name: string): Promise<void> {
  if (await isThere(beneath(folder, name))) return;
  await makeFolder(folder, name).catch((error: unknown) => {
    // Another upload was faster.
    if (!(error instanceof RefusedStream && error.status === 409)) throw error;
  });
}

/** Never replaces what has the new name. */
export async function renameEntry(from: Folder, name: string, to: Folder, newName: string): Promise<void> {
  await moveEntry(from, name, to, newName);
  await syncFolder(to);
}

/** Removes a file, a link itself, or a folder with all that is in it. */
export async function removeEntry(folder: Folder, name: string): Promise<{ removed: number; isMore: boolean }> {
  if (!(await isThere(beneath(folder, name)))) throw noSuchFile();
  const work = { removed: 0, until: performance.now() + REMOVE_MS };
  const isGone = await removeBelow(folder, name, work, 0);
  await syncFolder(folder);
  return { removed: work.removed, isMore: !isGone };
}

interface Work {
  removed: number;
  until: number;
}

/** Returns whether it is gone: not, when the time is over. */
async function removeBelow(folder: Folder, name: string | Buffer, work: Work, depth: number): Promise<boolean> {
  if (performance.now() > work.until) return false;
  const entry = await openEntry(folder, name);
  if (!entry) return true;
  try {
    if (entry.kind !== 'folder') {
      await ignoringAbsent(unlink(beneath(folder, name)));
      work.removed += 1;
      return true;
    }
    if (entry.mount !== folder.mount) throw new RefusedStream(403, text('This is on another disk than the volume'));
    if (depth >= MAX_FOLDER_DEPTH) throw new RefusedStream(409, text('Folders are nested too deep: at most 100'));
    for (let round = 1; ; round += 1) {
      for await (const { name: inside } of await opendir(contentPath(entry), { encoding: 'buffer' as never }))
        if (!(await removeBelow(entry, inside as unknown as Buffer, work, depth + 1))) return false;
      try {
        await ignoringAbsent(rmdir(beneath(folder, name)));
        work.removed += 1;
        return true;
      } catch (error) {
        if (!hasErrorCode(error, 'ENOTEMPTY', 'EEXIST') || round >= EMPTYING_ROUNDS) throw error;
      }
    }
  } finally {
    await entry.handle.close();
  }
}

async function ignoringAbsent(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw error;
  }
}
