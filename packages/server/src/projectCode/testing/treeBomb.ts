import { randomInt } from 'node:crypto';
import { runGit } from '../../git/run.ts';
import { importCommits } from '../../git/testing/fastImport.ts';

const WHO = { name: 'Eve', email: 'eve@example.com' };
const AUTHOR = {
  GIT_AUTHOR_NAME: WHO.name,
  GIT_AUTHOR_EMAIL: WHO.email,
  GIT_COMMITTER_NAME: WHO.name,
  GIT_COMMITTER_EMAIL: WHO.email,
};

/**
 * Adds a commit to `main` whose folders all have the same folders in them: a few KB to push, and 10^`depth` files to
 * whoever looks at each. Answers its hash.
 */
export async function addTreeBomb(dir: string, depth: number): Promise<string> {
  const run = async (args: string[], input = ''): Promise<string> =>
    (await runGit(dir, args, { input, env: AUTHOR })).stdout.toString().trim();
  const names = Array.from({ length: 10 }, (_, n) => `name${n}`);
  let entry = `100644 blob ${await run(['hash-object', '-w', '--stdin'], 'a line of text\n')}`;
  for (let level = 0; level < depth; level += 1)
    entry = `040000 tree ${await run(['mktree'], names.map((name) => `${entry}\t${name}\n`).join(''))}`;
  const parent = await run(['rev-parse', 'main']);
  const commit = await run(['commit-tree', '-m', 'Grow', '-p', parent, entry.split(' ')[2]!]);
  await run(['update-ref', 'refs/heads/main', commit]);
  return commit;
}

/** A history in which a file of so many lines is shuffled again and again, on a branch. */
export async function addShuffledFile(dir: string, branch: string, path: string, lines: number, commits: number) {
  const text = Array.from({ length: lines }, (_, n) => `line ${n % (lines / 4)}\n`);
  const shuffled = (): string => {
    for (let n = text.length - 1; n > 0; n -= 1) {
      const other = randomInt(n + 1);
      [text[n], text[other]] = [text[other]!, text[n]!];
    }
    return text.join('');
  };
  await importCommits(
    dir,
    Array.from({ length: commits }, (_, n) => ({
      message: `Shuffle ${n}`,
      branch,
      ...(n === 0 && { parents: [] }),
      files: { [path]: shuffled() },
    })),
  );
}
