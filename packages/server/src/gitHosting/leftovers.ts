import { readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Older than any lock that a running git holds. */
export const LEFT_AFTER_MS = 10 * 60_000;

/** Below `objects`: objects of a push that was never accepted. */
const QUARANTINE = /^(tmp_objdir-|incoming-)/;
/** What git writes before it renames. `.keep` files protect a pack until its refs are set. */
const UNFINISHED_PACK = /^(tmp_(pack|idx|rev|mtimes|obj|bitmap)_.*|.*\.lock|pack-.*\.keep)$/;
const LOCK = /\.lock$|^gc\.pid$/;

/**
 * Removes what a killed git left in a repository: locks, which would refuse every later push, and unfinished objects.
 * Does nothing while a process of git works in it. Answers what was removed, relative to the repository.
 */
export async function removeLeftovers(dir: string, { olderThanMs = LEFT_AFTER_MS } = {}): Promise<string[]> {
  const old = await oldOnes(dir, await leftoversOf(dir), olderThanMs);
  if (old.length === 0 || (await isInUse(dir))) return [];
  for (const name of old) await rm(join(dir, name), { recursive: true, force: true });
  return old;
}

async function leftoversOf(dir: string): Promise<string[]> {
  const found = [
    ...(await names(dir)).filter((name) => LOCK.test(name)),
    ...(await names(join(dir, 'objects'))).filter((name) => QUARANTINE.test(name)).map((name) => `objects/${name}`),
    ...(await names(join(dir, 'objects/pack')))
      .filter((name) => UNFINISHED_PACK.test(name))
      .map((name) => `objects/pack/${name}`),
  ];
  for (const folder of ['refs', 'objects/info'])
    for (const entry of await readdir(join(dir, folder), { recursive: true }).catch(absent))
      if (LOCK.test(entry)) found.push(join(folder, entry));
  return found;
}

async function oldOnes(dir: string, found: readonly string[], olderThanMs: number): Promise<string[]> {
  const now = Date.now();
  const ages = await Promise.all(
    found.map(async (name) => {
      // Git may remove it meanwhile.
      const known = await stat(join(dir, name)).catch(() => null);
      return known ? now - Math.max(known.mtimeMs, known.ctimeMs) : -1;
    }),
  );
  return found.filter((_, n) => ages[n]! >= olderThanMs);
}

/** Whether a process of git works in a repository: by its folder, or by its environment, which names the repository. */
async function isInUse(dir: string): Promise<boolean> {
  for (const pid of (await names('/proc')).filter((name) => /^\d+$/.test(name))) {
    const [name, cwd, environment] = await Promise.all([
      readFile(`/proc/${pid}/comm`, 'utf8').catch(() => ''),
      readlink(`/proc/${pid}/cwd`).catch(() => ''),
      readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''),
    ]);
    if (!name.startsWith('git')) continue;
    if (cwd === dir || cwd.startsWith(`${dir}/`) || environment.split('\0').includes(`GIT_DIR=${dir}`)) return true;
  }
  return false;
}

const names = (folder: string): Promise<string[]> => readdir(folder).catch(absent);

function absent(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
