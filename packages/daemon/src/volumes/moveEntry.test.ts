import { mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hasErrorCode } from '../atomicFile.ts';
import { renameEntry } from './changeEntries.ts';
import { type Folder, openRoot } from './openBeneath.ts';

const ROUNDS = 1_000;
const MOST_TURNS = 25;

let path: string;
let root: Folder;

beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), 'stagi-move-'));
  root = await openRoot(path);
});
afterAll(async () => {
  await root?.handle.close();
  if (path) await rm(path, { recursive: true });
});

const at = (name: string): string => join(path, name);
const move = (name: string, to: string) => renameEntry(root, name, root, to);

it('moves files, links and folders, and refuses names that are taken', async () => {
  await writeFile(at('file'), 'ours');
  await symlink('nowhere', at('link'));
  await mkdir(at('folder/inside'), { recursive: true });
  await mkdir(at('empty'));
  for (const name of ['file', 'link', 'folder'])
    for (const taken of ['file', 'link', 'folder', 'empty'])
      await expect(move(name, taken), `${name} to ${taken}`).rejects.toMatchObject({ status: 409 });
  for (const name of ['file', 'link', 'folder']) await move(name, `${name}-2`);
  await expect(move('folder-2', 'folder-2/inside/folder')).rejects.toMatchObject({ status: 409 });
  await expect(move('gone', 'gone-2')).rejects.toMatchObject({ status: 404 });
  expect(await readFile(at('file-2'), 'utf8')).toBe('ours');
  expect(await readlink(at('link-2'))).toBe('nowhere');
  expect((await readdir(path)).toSorted()).toEqual(['empty', 'file-2', 'folder-2', 'link-2']);
  expect(await readdir(at('folder-2'))).toEqual(['inside']);
});

/** Earlier or later in the work of the move: a new file under the new name, or another one in place of the old. */
async function putInTheWay(round: number): Promise<boolean> {
  for (let turn = 0; turn < (round >> 1) % MOST_TURNS; turn += 1) await setImmediate();
  try {
    if (round % 2 === 0) await writeFile(at('target'), 'theirs', { flag: 'wx' });
    else await rename(at('draft'), at('source'));
    return true;
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error;
    return false;
  }
}

it('loses nothing that a container puts in its way meanwhile', async () => {
  let refused = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await writeFile(at('source'), 'ours');
    await writeFile(at('draft'), 'theirs');
    const moved = move('source', 'target').then(
      () => true,
      (error: { status?: number }) => {
        expect(error.status).toBe(409);
        return false;
      },
    );
    const inTheWay = putInTheWay(round);
    const [isTheirs, isMoved] = await Promise.all([inTheWay, moved]);
    const kept = await Promise.all(['source', 'target'].map((name) => readFile(at(name), 'utf8').catch(() => null)));
    if (isTheirs) expect(kept, `round ${round}`).toContain('theirs');
    if (round % 2 === 0) expect(kept, `round ${round}`).toContain('ours');
    if (!isMoved) refused += 1;
    expect((await readdir(path)).filter((name) => name.startsWith('.'))).toEqual([]);
    for (const name of ['source', 'target', 'draft']) await rm(at(name), { force: true });
  }
  console.log(`moves: n = ${ROUNDS} against a container that writes meanwhile, ${refused} refused, 0 lost`);
});
