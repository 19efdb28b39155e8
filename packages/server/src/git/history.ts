import type { Repository } from './repositories.ts';
import { git } from './run.ts';

const HASH_LINE = /^[0-9a-f]{40}$/;

/** Hashes of a history, newest first; with a path (its bytes, from a walk through trees) only what changed it. */
export async function listHistory(
  repository: Repository,
  { commit, path, skip, limit }: { commit: string; path: Buffer | null; skip: number; limit: number },
): Promise<string[]> {
  const { stdout } = await git(
    repository.dir,
    ['rev-list', `--max-count=${limit}`, `--skip=${skip}`, ...(path ? ['--stdin'] : []), commit],
    // By its standard input a path may have any bytes. Behind `--` nothing is an option.
    { ...(path && { input: Buffer.concat([Buffer.from('--\n'), path, Buffer.from('\n')]) }) },
  );
  return stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => HASH_LINE.test(line));
}
