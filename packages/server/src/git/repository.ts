import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { runGit } from './run.ts';

type Place = Pick<Config, 'repositoriesDir'>;

export const DEFAULT_BRANCH = 'main';
/** What one push may send. */
export const MAX_PUSH_BYTES = 512 * 1024 * 1024;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Before they are complete, and after they are given up. */
const UNFINISHED = '.new-';
const REMOVED = '.removed-';
const UNFINISHED_KEPT_MS = 24 * 60 * 60_000;

/**
 * The same for every repository. Hooks lie outside of the repository: none run, unless a transfer names the platform's
 * own folder. Packs are kept as they come: syncing thousands of single objects to the disk is slow.
 */
const SETTINGS = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
	logAllRefUpdates = false
	hooksPath = /dev/null
	fsync = all
	commitGraph = true
	bigFileThreshold = 50m
[transfer]
	fsckObjects = true
	unpackLimit = 1
[receive]
	fsckObjects = true
	maxInputSize = ${MAX_PUSH_BYTES}
	autogc = false
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = false
	allowTipSHA1InWant = false
	allowReachableSHA1InWant = false
[uploadpackfilter "sparse:oid"]
	allow = false
[gc]
	auto = 0
[maintenance]
	auto = false
[pack]
	windowMemory = 256m
[protocol]
	allow = never
`;

/** The folder of a repository; it may be absent. */
export function repositoryDir({ repositoriesDir }: Place, uuid: string): string {
  if (!UUID.test(uuid)) throw new Error(`not the name of a repository: ${uuid}`);
  return join(repositoriesDir, `${uuid}.git`);
}

/** Makes an empty bare repository whose HEAD is `main`. Does nothing if it exists: a second run is harmless. */
export async function createRepository(place: Place, uuid: string): Promise<void> {
  const dir = repositoryDir(place, uuid);
  if (await exists(dir)) return;
  await mkdir(place.repositoriesDir, { recursive: true, mode: 0o700 });
  const unfinished = join(place.repositoriesDir, `${UNFINISHED}${uuid}-${randomBytes(4).toString('hex')}`);
  try {
    await runGit(null, [
      'init',
      '--quiet',
      '--bare',
      '--template=',
      `--initial-branch=${DEFAULT_BRANCH}`,
      '--',
      unfinished,
    ]);
    await writeFile(join(unfinished, 'config'), SETTINGS, { flush: true });
    await syncFolder(unfinished);
    await rename(unfinished, dir);
    await syncFolder(place.repositoriesDir);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another process was faster.
    if (await exists(dir)) return;
    throw error;
  }
}

/** Removes a repository; it is out of reach at once. Does nothing if it is absent. */
export async function removeRepository(place: Place, uuid: string): Promise<void> {
  const removed = join(place.repositoriesDir, `${REMOVED}${uuid}-${randomBytes(4).toString('hex')}`);
  try {
    await rename(repositoryDir(place, uuid), removed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await rm(removed, { recursive: true, force: true });
}

/**
 * Removes what an ended process left of a creation or a removal. Answers how many. What is young may be another
 * process's work.
 */
export async function removeUnfinished(
  { repositoriesDir }: Place,
  { olderThanMs = UNFINISHED_KEPT_MS } = {},
): Promise<number> {
  const names = await readdir(repositoriesDir).catch(absent<string[]>([]));
  let removed = 0;
  for (const name of names.filter((one) => one.startsWith(UNFINISHED) || one.startsWith(REMOVED))) {
    const path = join(repositoriesDir, name);
    const known = await stat(path).catch(absent(null));
    // A renaming only changes the time of the change of state.
    if (!known || Date.now() - Math.max(known.mtimeMs, known.ctimeMs) < olderThanMs) continue;
    await rm(path, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}

function absent<T>(instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return instead;
    throw error;
  };
}

export async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
