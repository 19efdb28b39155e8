import { parseCommit } from '../git/parseObjects.ts';
import { runGit } from '../git/run.ts';

/** What the platform notes of a repository after each change. */
export interface RepositoryState {
  sizeBytes: number;
  /** No branch and no tag. */
  isEmpty: boolean;
  /** Of the branch that was asked for; null while it does not exist. */
  lastCommit: Tip | null;
  /** The name of the only branch; null when there are none or several. */
  onlyBranch: string | null;
}

export interface Tip {
  sha: string;
  message: string;
  at: Date;
}

const SUBJECT_MAX = 300;
const HEADS = 'refs/heads/';

export async function readRepositoryState(dir: string, defaultBranch: string): Promise<RepositoryState> {
  const [branches, tags, sizes, lastCommit] = await Promise.all([
    lines(dir, ['for-each-ref', '--count=2', '--format=%(refname)', HEADS]),
    lines(dir, ['for-each-ref', '--count=1', '--format=%(refname)', 'refs/tags/']),
    lines(dir, ['count-objects', '-v']),
    tipOf(dir, defaultBranch),
  ]);
  return {
    sizeBytes: bytesOf(sizes),
    isEmpty: branches.length === 0 && tags.length === 0,
    lastCommit,
    onlyBranch: branches.length === 1 ? branches[0]!.slice(HEADS.length) : null,
  };
}

/** The last commit of a branch; null when there is no branch of exactly this name. */
export async function tipOf(dir: string, branch: string): Promise<Tip | null> {
  // Patterns also find what lies below a folder of this name.
  const found = await lines(dir, ['for-each-ref', '--format=%(objectname) %(refname)', '--', `${HEADS}${branch}`]);
  const sha = found.find((line) => line.endsWith(` ${HEADS}${branch}`))?.split(' ')[0];
  if (!sha) return null;
  const { stdout: content } = await runGit(dir, ['cat-file', 'commit', sha]);
  const { title, committer } = parseCommit(sha, { content });
  const message = title.slice(0, SUBJECT_MAX).replaceAll('\0', '').toWellFormed();
  // Nothing was committed before there were computers; the database ends 4713 BC.
  return { sha, message, at: new Date(Math.max(0, committer.at.getTime())) };
}

/** The branch that is checked out by a clone. */
export async function headBranch(dir: string): Promise<string> {
  const [name] = await lines(dir, ['symbolic-ref', 'HEAD']);
  return name!.slice(HEADS.length);
}

/** The branch exists, or the repository is empty. */
export async function setHeadBranch(dir: string, branch: string): Promise<void> {
  await runGit(dir, ['symbolic-ref', 'HEAD', `${HEADS}${branch}`]);
}

/** These are in KiB. */
function bytesOf(counts: readonly string[]): number {
  return counts.reduce((sum, line) => sum + 1024 * Number(/^size(?:-pack|-garbage)?: (\d+)$/.exec(line)?.[1] ?? 0), 0);
}

async function lines(dir: string, args: readonly string[]): Promise<string[]> {
  const { stdout } = await runGit(dir, args);
  return stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}
