import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What the platform notes of a repository after each change. */
export interface RepositoryState {
  sizeBytes: number;
  defaultBranch: string;
  /** No branch and no tag. */
  isEmpty: boolean;
  /** Of the default branch. */
  lastCommit: { sha: string; message: string; at: Date } | null;
}

const SUBJECT_MAX = 300;
const HEADS = 'refs/heads/';

/** Reads it from disk. The branch that HEAD names counts as default, or the only branch if that one is missing. */
export async function readRepositoryState(dir: string): Promise<RepositoryState> {
  const [head, refs, sizes] = await Promise.all([
    git(dir, ['symbolic-ref', 'HEAD']),
    git(dir, ['for-each-ref', '--count=2', '--format=%(refname)', 'refs/heads', 'refs/tags']),
    git(dir, ['count-objects', '-v']),
  ]);
  const defaultBranch = head.trim().slice(HEADS.length);
  return {
    sizeBytes: bytesOf(sizes),
    defaultBranch,
    isEmpty: refs.trim() === '',
    lastCommit: await tipOf(dir, defaultBranch),
  };
}

async function tipOf(dir: string, branch: string): Promise<RepositoryState['lastCommit']> {
  const out = await git(dir, [
    'for-each-ref',
    '--format=%(objectname)%00%(committerdate:iso-strict)%00%(contents:subject)',
    '--',
    `${HEADS}${branch}`,
  ]);
  const [sha, at, message] = out.trimEnd().split('\0');
  if (!sha || !at) return null;
  return { sha, message: (message ?? '').slice(0, SUBJECT_MAX), at: new Date(at) };
}

/** `size` and `size-pack` are KiB. */
function bytesOf(counts: string): number {
  const kib = [...counts.matchAll(/^(?:size|size-pack|size-garbage): (\d+)$/gm)].map(([, n]) => Number(n));
  return kib.reduce((sum, n) => sum + n * 1024, 0);
}

async function git(dir: string, args: string[]): Promise<string> {
  const { stdout } = await run('git', args, {
    cwd: '/',
    env: { PATH: process.env.PATH, GIT_DIR: dir, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    timeout: 10_000,
  });
  return stdout;
}
