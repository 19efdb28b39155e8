import { chown, mkdir, readdir, readlink } from 'node:fs/promises';
import { text } from '@stagi/contract/text.ts';
import { hasErrorCode } from '../atomicFile.ts';
import { PolicyError } from '../policyError.ts';
import { beneath, closing, contentPath, type Folder, openEntry, openTop } from './openBeneath.ts';

export interface FolderOwner {
  uid: number;
  gid: number;
}

/**
 * Opens a directory of the server, and makes what is missing of it. No part of its path may be a link: that could lead
 * out of the allowed roots. What is opened stays the same, whatever its path leads to later. `onMade` hears of the last
 * one, if it was missing. The caller closes it.
 */
export async function openHostFolder(path: string, onMade?: (path: string) => void): Promise<Folder> {
  const names = path.split('/').filter((part) => part !== '' && part !== '.');
  let folder: Folder = await openTop();
  let at = '';
  try {
    for (const [index, name] of names.entries()) {
      at = `${at}/${name}`;
      const next = await openOrMake(folder, name, at, () => index === names.length - 1 && onMade?.(path));
      await folder.handle.close();
      folder = next;
    }
    // A container may have moved a folder that was open on the way.
    if ((await readlink(contentPath(folder))) !== `/${names.join('/')}`)
      throw new Error(text('{{path}} on the server was moved meanwhile', { path }));
    return folder;
  } catch (error) {
    await folder.handle.close();
    throw error;
  }
}

async function openOrMake(folder: Folder, name: string, path: string, onMade: () => void): Promise<Folder> {
  const there = await openEntry(folder, name);
  const entry = there ?? (await makeAndOpen(folder, name, onMade));
  if (entry?.kind === 'folder') return entry;
  await entry?.handle.close();
  if (entry?.kind === 'link')
    throw new PolicyError(text('{{path}} on the server is a symbolic link and cannot be mounted', { path }));
  throw new PolicyError(text('{{path}} on the server is not a directory', { path }));
}

async function makeAndOpen(folder: Folder, name: string, onMade: () => void) {
  const isMade = await mkdir(beneath(folder, name), { mode: 0o755 }).then(
    () => true,
    (error: unknown) => {
      if (!hasErrorCode(error, 'EEXIST')) throw error;
      return false;
    },
  );
  if (isMade) onMade();
  return openEntry(folder, name);
}

/** Gives a folder that `openHostFolder` has made to the user whose container it was made for. */
export async function giveNewFolder(path: string, owner: FolderOwner): Promise<void> {
  const folder = await openHostFolder(path);
  await closing(folder, async () => {
    if (await isAsMade(folder)) await chown(contentPath(folder), owner.uid, owner.gid);
  });
}

/** A container may have put another directory in its place since: nobody gets what is of somebody else. */
async function isAsMade(folder: Folder): Promise<boolean> {
  const { uid } = await folder.handle.stat();
  return uid === 0 && (await readdir(contentPath(folder))).length === 0;
}
