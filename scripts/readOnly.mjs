// No dependencies, nothing newer than Node 20: the bootstrap uses it.
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** That this user may not write there, or nobody may. */
const DENIED = ['EACCES', 'EPERM', 'EROFS'];

/**
 * A service may run on a checkout that belongs to somebody else and that it may only read. It can use what the owner has
 * made there, and make nothing. Throws a sentence that says so where one of `paths` cannot be written; `missing` says
 * what a start would make there.
 */
export function refuseReadOnly(missing, ...paths) {
  if (paths.every(mayWrite)) return;
  throw new Error(`${missing}, and this user may only read ${ROOT}: run npm run install-only there as its owner.`);
}

/** Tells whether this user may write into a folder, or may make it. */
export function mayWrite(path) {
  if (!existsSync(path) && path !== ROOT) return mayWrite(join(path, '..'));
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch (error) {
    if (DENIED.includes(error.code)) return false;
    throw error;
  }
}
