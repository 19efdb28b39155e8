import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const ABOUT = 'Data folder';
const WARNING_SHARE = 0.85;
const PROBLEM_SHARE = 0.95;

/** The folder is there and can be written: the configuration would not have been read else. */
export function checkFolder({ dataDir, repositoriesDir, secretKey }: Config): Finding[] {
  const folders = [...new Set([dataDir, repositoriesDir])];
  return [...folders.flatMap(checkSpace), checkKey(dataDir, secretKey)];
}

function checkSpace(folder: string): Finding[] {
  if (!statSync(folder, { throwIfNoEntry: false })) return [];
  const { blocks, bfree, bavail, bsize } = statfsSync(folder);
  const free = `${((bavail * bsize) / 1e9).toFixed(0)} GB free`;
  const used = (blocks - bfree) / Math.max(1, blocks - bfree + bavail);
  if (used < WARNING_SHARE) return [ok(ABOUT, `${folder}, ${free}`)];
  const says = `${folder} is on a disk that is ${(used * 100).toFixed(0)} % full, ${free}: make room`;
  return [(used < PROBLEM_SHARE ? warning : problem)(ABOUT, says)];
}

function checkKey(dataDir: string, configured: string | null): Finding {
  const file = join(dataDir, 'secret.key');
  const found = statSync(file, { throwIfNoEntry: false });
  if (configured) return ok('Secret key', 'of STAGI_SECRET_KEY. Keep a copy apart from the backups');
  if (!found) return ok('Secret key', `the first start makes it: ${file}. Keep a copy apart from the backups`);
  if ((found.mode & 0o077) !== 0) return problem('Secret key', `others may read ${file}: chmod 400 ${file}`);
  return ok('Secret key', `${file}. Keep a copy apart from the backups`);
}
