import { chown, mkdir, readdir, readlink } from 'node:fs/promises';
import { text } from '@stagi/contract/text.ts';
import { hasErrorCode } from '../atomicFile.ts';
import { PolicyError } from '../policyError.ts';
import { beneath, contentPath, type Entry, type Folder, openEntry, openTop } from './openBeneath.ts';

export interface FolderOwner {
  uid: number;
  gid: number;
}

/**
 * Opens a directory of the server, and makes what is missing of it. No part of its path may be a link: that could lead
 * out of the allowed roots. What is opened stays the same, whatever its path leads to later. If the last one is made, it
 * gets this owner; what is there already keeps its own. The caller closes it.
 */
export async function openHostFolder(path: string, owner: FolderOwner | null = null): Promise<Folder> {
  const names = path.split('/').filter((part) => part !== '' && part !== '.');
  let folder: Folder = await openTop();
  let at = '';
  try {
    for (const [index, name] of names.entries()) {
      at = `${at}/${name}`;
      const next = await openOrMake(folder, name, at, index === names.length - 1 ? owner : null);
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

async function openOrMake(folder: Folder, name: string, path: string, owner: FolderOwner | null): Promise<Folder> {
  const there = await openEntry(folder, name);
  const entry = there ?? (await makeAndOpen(folder, name, owner));
  if (entry?.kind === 'folder') return entry;
  await entry?.handle.close();
  if (entry?.kind === 'link')
    throw new PolicyError(text('{{path}} on the server is a symbolic link and cannot be mounted', { path }));
  throw new PolicyError(text('{{path}} on the server is not a directory', { path }));
}

async function makeAndOpen(folder: Folder, name: string, owner: FolderOwner | null) {
  const isMade = await mkdir(beneath(folder, name), { mode: 0o755 }).then(
    () => true,
    (error: unknown) => {
      if (!hasErrorCode(error, 'EEXIST')) throw error;
      return false;
    },
  );
  const made = await openEntry(folder, name);
  if (isMade && owner && made && (await isAsMade(made))) await chown(contentPath(made), owner.uid, owner.gid);
  return made;
}

/** A container may have put another directory in its place since: nobody gets what is of somebody else. */
async function isAsMade({ kind, stats, handle, mount }: Entry): Promise<boolean> {
  if (kind !== 'folder' || stats.uid !== 0n) return false;
  return (await readdir(contentPath({ handle, mount }))).length === 0;
}
