import { mkdir, readlink } from 'node:fs/promises';
import { text } from '@stagi/contract/text.ts';
import { hasErrorCode } from '../atomicFile.ts';
import { PolicyError } from '../policyError.ts';
import { beneath, contentPath, type Folder, openEntry, openTop } from './openBeneath.ts';

/**
 * Opens a directory of the server, and makes what is missing of it. No part of its path may be a link: that could lead
 * out of the allowed roots. What is opened stays the same, whatever its path leads to later. The caller closes it.
 */
export async function openHostFolder(path: string): Promise<Folder> {
  const names = path.split('/').filter((part) => part !== '' && part !== '.');
  let folder: Folder = await openTop();
  let at = '';
  try {
    for (const name of names) {
      at = `${at}/${name}`;
      const next = await openOrMake(folder, name, at);
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

async function openOrMake(folder: Folder, name: string, path: string): Promise<Folder> {
  const there = await openEntry(folder, name);
  const entry = there ?? (await makeAndOpen(folder, name));
  if (entry?.kind === 'folder') return entry;
  await entry?.handle.close();
  if (entry?.kind === 'link')
    throw new PolicyError(text('{{path}} on the server is a symbolic link and cannot be mounted', { path }));
  throw new PolicyError(text('{{path}} on the server is not a directory', { path }));
}

async function makeAndOpen(folder: Folder, name: string) {
  await mkdir(beneath(folder, name), { mode: 0o755 }).catch((error: unknown) => {
    if (!hasErrorCode(error, 'EEXIST')) throw error;
  });
  return openEntry(folder, name);
}
