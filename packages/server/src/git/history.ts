import type { Repository } from './repositories.ts';

const HASH_LINE = /^[0-9a-f]{40}$/;

/** Hashes of a history, newest first; with a path (its bytes; empty: the root) only what changed it. */
export async function listHistory(
  repository: Repository,
  { commit, path, skip, limit }: { commit: string; path: Buffer; skip: number; limit: number },
): Promise<string[]> {
  const { stdout } = await repository.git(['rev-list', `--max-count=${limit}`, `--skip=${skip}`, commit, '--'], {
    ...(path.length > 0 && { path }),
  });
  return stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => HASH_LINE.test(line));
}
