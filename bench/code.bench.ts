/**
 * Code pages on a repository of 5,000 and one of 50,000 commits: a folder with the last commit of each entry, first (a
 * process that has just started) and again; a page of the history, also deep down and of a path. Prints n, median and
 * p95 of each and whether the goal is met, beside `git log` for one file and, if Debian's package is installed, cgit run
 * once per page: its tree has no last commits.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { api } from '@stagi/contract/api.ts';
import { runGit } from '@stagi/server/src/git/run.ts';
import type { NewCommit } from '@stagi/server/src/git/testing/fastImport.ts';
import { writeCommitGraph } from '@stagi/server/src/git/upkeep.ts';
import { aProjectWith } from '@stagi/server/src/projectCode/testing/aRepository.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { median } from './report.ts';

const ROUNDS = 20;
const SIZES = [5_000, 50_000];
const FOLDERS = ['', 'src', 'lib/mod2', 'tests', 'config/mod7'];
const FIRST_MS = 150;
const AGAIN_MS = 30;
const HISTORY_MS = 50;
const CGIT = '/usr/lib/cgit/cgit.cgi';

const postgres = await startTestPostgres();
const app = await startTestApp();
try {
  const owner = await app.signUp('Alice');
  for (const size of SIZES) {
    const { id, dir, shas } = await aProjectWith(app, owner, `code-${size}`, history(size));
    const uuid = dir.slice(-'00000000-0000-4000-8000-000000000000.git'.length, -'.git'.length);
    await runGit(dir, ['repack', '-adq'], { timeoutMs: 600_000 });
    await writeCommitGraph(dir);
    const tree = (path: string) => owner.client(api.projectCode.tree, { id, path });
    await measure(`${size} commits: folder with last commits, first`, FIRST_MS, async (n) => {
      app.ctx.repositories.forget(uuid);
      await tree(FOLDERS[n % FOLDERS.length]!);
    });
    // Each round forgot the others.
    for (const folder of FOLDERS) await tree(folder);
    await measure(`${size} commits: folder with last commits, again`, AGAIN_MS, (n) =>
      tree(FOLDERS[n % FOLDERS.length]!),
    );
    await measure(`${size} commits: history, first page`, HISTORY_MS, () =>
      owner.client(api.projectCode.commits, { id }),
    );
    await measure(`${size} commits: history, deep pages`, HISTORY_MS, (n) =>
      owner.client(api.projectCode.commits, { id, cursor: `${shas.at(-1)}.${Math.floor((size * n) / ROUNDS)}` }),
    );
    await measure(`${size} commits: history of a path`, HISTORY_MS, (n) =>
      owner.client(api.projectCode.commits, { id, path: FOLDERS[(n % 4) + 1]! }),
    );
    await measure(`${size} commits: git log -1 of one old file, for comparison`, null, async () => {
      execFileSync('git', ['log', '-1', '--format=%H', 'main', '--', 'LICENSE'], {
        env: { ...process.env, GIT_DIR: dir },
      });
    });
    if (!existsSync(CGIT)) continue;
    const settings = `${dir}.cgitrc`;
    writeFileSync(settings, `cache-size=0\nmax-commit-count=30\nrepo.url=x\nrepo.path=${dir}\n`);
    for (const page of ['tree', 'log'])
      await measure(`${size} commits: ${page} of cgit, for comparison`, null, async () => {
        const env = { CGIT_CONFIG: settings, PATH_INFO: `/x/${page}/`, QUERY_STRING: '', REQUEST_METHOD: 'GET' };
        const answer = execFileSync(CGIT, { env }).toString();
        if (!answer.includes(page === 'tree' ? 'LICENSE' : `Change ${size - 1}`)) throw new Error(answer.slice(0, 500));
      });
  }
  console.log(
    'First pages of a root folder with files as old as its history walk all of it. To meet their goal it would take an\n' +
      'index of last commits by path, kept up to date by each push.',
  );
} finally {
  await app.close();
  await postgres.stop();
}

async function measure(what: string, mostMs: number | null, act: (n: number) => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let n = 0; n < ROUNDS; n += 1) {
    const start = performance.now();
    await act(n);
    times.push(performance.now() - start);
  }
  const p95 = times.toSorted((a, b) => a - b)[Math.ceil(ROUNDS * 0.95) - 1]!;
  const goal = mostMs === null ? '' : `, goal ${mostMs} ms: ${p95 <= mostMs ? 'met' : 'MISSED'}`;
  console.log(`${what}: median ${median(times).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms${goal}, n = ${ROUNDS}`);
}

/** Work goes on in a few folders; most files, and a dozen of the root, stay as they were in the first commit. */
function history(size: number): NewCommit[] {
  let seed = 7;
  const below = (most: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % most;
  };
  const folders = ['src', 'lib', 'docs', 'tests', 'tools', 'scripts', 'config', 'examples'];
  const roots = ['README.md', 'LICENSE', '.gitignore', 'Makefile', 'setup.py', 'pyproject.toml', 'CHANGELOG.md'];
  const first: Record<string, string> = Object.fromEntries(roots.map((name) => [name, `${name}\n`]));
  for (const folder of folders)
    for (let n = 0; n < 96; n += 1) first[`${folder}/mod${n % 12}/file${Math.floor(n / 12)}.py`] = `# ${n}\n`;
  const commits: NewCommit[] = [{ message: 'Begin', files: first }];
  while (commits.length < size) {
    const n = commits.length;
    const files: Record<string, string> = n % 50 === 0 ? { 'CHANGELOG.md': `${n}\n` } : {};
    for (let k = below(4); k >= 0; k -= 1)
      files[`${folders[below(3)]}/mod${below(6)}/file${below(8)}.py`] = `# ${n}\nx = ${below(1_000_000)}\n`;
    commits.push({ message: `Change ${n}\n\nWith a body.`, author: `Author ${below(40)}`, files });
  }
  return commits;
}
