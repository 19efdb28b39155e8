import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createFairSlots } from '../slots/fairSlots.ts';
import { asWorkspace } from '../slots/holder.ts';
import { findLastCommit, findLastCommits } from './lastCommits.ts';
import { openRepositories, type Repository } from './repositories.ts';
import { createRepository, removeUnfinished } from './repository.ts';
import { runGit } from './run.ts';
import { importCommits, type NewCommit } from './testing/fastImport.ts';
import { writeCommitGraph } from './upkeep.ts';
import { walkTo } from './walk.ts';

const place = { repositoriesDir: mkdtempSync(join(tmpdir(), 'stagi-last-commits-')) };
const slots = () => createFairSlots({ total: 8, perPerson: 8 });
const repositories = openRepositories(place, { readers: slots(), starts: slots() });
/** Comparisons over the 30 commits of each of two histories. */
const LEAST = 400;
let made = 0;
afterAll(() => {
  repositories.close();
  rmSync(place.repositoriesDir, { recursive: true, force: true });
});

async function aRepository(commits: readonly NewCommit[]): Promise<{ repository: Repository; shas: string[] }> {
  made += 1;
  const uuid = `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`;
  await createRepository(place, uuid);
  const repository = repositories.at(uuid, asWorkspace(1));
  return { repository, shas: commits.length > 0 ? await importCommits(repository.dir, commits) : [] };
}

function git({ dir }: Repository, ...args: string[]): string {
  return execFileSync('git', args, { env: { ...process.env, GIT_DIR: dir } }).toString();
}

async function lastCommits(repository: Repository, commit: string, path: string): Promise<Map<string, string>> {
  const { tree } = (await repository.commit(commit))!;
  const folder = await walkTo(repository, tree, path);
  const entries = (await repository.tree(folder.tree!))!;
  const found = await findLastCommits(repository, { commit, path: folder.path, entries });
  return new Map(entries.map(({ name }) => [name, found.get(name)!]));
}

const PATHS = ['a', 'b', 'd/x', 'd/y', 'd/e/z', 'f/g'];

/**
 * A history with merges. `isKept`: a merge takes what is newer on each path, and no content comes twice, as with people
 * who resolve their conflicts; else a merge takes any side, and changes are undone and made again.
 */
function history(seed: number, isKept: boolean): NewCommit[] {
  let state = seed;
  const below = (most: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % most;
  };
  const trees: Record<string, { n: number; content: string }>[] = [];
  return Array.from({ length: 30 }, (_, n): NewCommit => {
    const parents = n === 0 ? [] : [Math.max(0, n - 1 - below(4))];
    const other = Math.max(0, n - 1 - below(6));
    if (n > 0 && below(3) === 0 && !parents.includes(other)) parents.push(other);
    const [first, second] = parents.map((parent) => trees[parent]!);
    const tree = { ...first };
    for (const path of PATHS) {
      if (n === 0) tree[path] = { n, content: 'begin' };
      else if (second && (isKept ? second[path]!.n > tree[path]!.n : below(2) === 0)) tree[path] = second[path]!;
    }
    for (let k = second && isKept ? 0 : below(3); k > 0; k -= 1)
      tree[PATHS[below(PATHS.length)]!] = { n, content: isKept ? `${n}` : `${below(3)}` };
    trees.push(tree);
    const files = Object.fromEntries(PATHS.map((path) => [path, tree[path]!.content]));
    return { message: `${n}`, files, ...(n > 0 && { parents }), time: 1_700_000_000 + 60 * (n + below(5)) };
  });
}

it('finds what git log -1 finds where merges keep what both sides did', async () => {
  let compared = 0;
  for (const seed of [1, 2]) {
    const { repository, shas } = await aRepository(history(seed, true));
    if (seed > 1) await writeCommitGraph(repository.dir);
    for (const sha of shas)
      for (const folder of ['', 'd'])
        for (const [name, found] of await lastCommits(repository, sha, folder)) {
          const path = folder ? `${folder}/${name}` : name;
          const expected = git(repository, 'log', '-1', '--format=%H', sha, '--', path).trim();
          expect(found, `${path} at ${sha}`).toBe(expected);
          expect(await findLastCommit(repository, { commit: sha, path: Buffer.from(path) })).toBe(expected);
          compared += 1;
        }
  }
  console.log(`last commits compared with git log -1: n = ${compared}`);
  expect(compared).toBeGreaterThan(LEAST);
});

it('finds the newest of the history of the folder that made an entry what it is, whatever merges did', async () => {
  let compared = 0;
  let others = 0;
  for (const seed of [5, 6]) {
    const { repository, shas } = await aRepository(history(seed, false));
    const trees = new Map(shas.map((sha) => [sha, treeOf(repository, sha)]));
    const parents = new Map(
      shas.map((sha) => [sha, git(repository, 'log', '-1', '--format=%P', sha).trim().split(' ')]),
    );
    for (const sha of shas)
      for (const folder of ['', 'd']) {
        const inHistory = git(repository, 'log', '--format=%H', sha, '--', ...(folder ? [`${folder}/`] : [])).split(
          '\n',
        );
        for (const [name, found] of await lastCommits(repository, sha, folder)) {
          const path = folder ? `${folder}/${name}` : name;
          const at = (commit: string) => trees.get(commit)?.get(path);
          const expected = inHistory.find(
            (one) => at(one) === at(sha) && parents.get(one)!.every((parent) => at(parent) !== at(one)),
          );
          expect(found, `${path} at ${sha}`).toBe(expected);
          compared += 1;
          if (found !== git(repository, 'log', '-1', '--format=%H', sha, '--', path).trim()) others += 1;
        }
      }
  }
  console.log(`last commits compared with the rule: n = ${compared}, of which git log -1 finds another for ${others}`);
  expect(others).toBeGreaterThan(0);
  expect(compared).toBeGreaterThan(LEAST);
});

/** Mode and hash by path. */
function treeOf(repository: Repository, sha: string): Map<string, string> {
  const lines = git(repository, 'ls-tree', '-r', '-t', '-z', sha).split('\0').filter(Boolean);
  return new Map(lines.map((line) => line.split('\t').toReversed() as [string, string]));
}

it('sees changes of mode and of kind, submodules that ask not to be shown, and names that are no text', async () => {
  const { repository, shas } = await aRepository([
    {
      message: 'Begin',
      files: {
        '.gitmodules': '[submodule "m"]\n\tpath = m\n\turl = ../m\n\tignore = all\n',
        m: { mode: '160000', content: '1'.repeat(40) },
        run: '#!/bin/sh\n',
        thing: 'a file',
        '*': 'x',
        ':(top)a': 'x',
      },
    },
    { message: 'Mode', files: { run: { mode: '100755', content: '#!/bin/sh\n' } } },
    { message: 'Kind', files: { thing: null, 'thing/inside': 'x' } },
    { message: 'Submodule', files: { m: { mode: '160000', content: '2'.repeat(40) } } },
  ]);
  expect(Object.fromEntries(await lastCommits(repository, shas[3]!, ''))).toEqual({
    '.gitmodules': shas[0],
    '*': shas[0],
    ':(top)a': shas[0],
    run: shas[1],
    thing: shas[2],
    m: shas[3],
  });
  const { tree } = (await repository.commit(shas[3]!))!;
  const blob = (await repository.tree(tree))!.find(({ name }) => name === 'run')!.sha;
  const folder = await runGit(repository.dir, ['mktree', '-z'], {
    input: Buffer.from(`100644 blob ${blob}\t\xff\xfe\0`, 'latin1'),
  });
  const root = await runGit(repository.dir, ['mktree', '-z'], {
    input: Buffer.from(`040000 tree ${folder.stdout.toString().trim()}\t\xfd\0`, 'latin1'),
  });
  const identity = {
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  const { stdout } = await runGit(repository.dir, ['commit-tree', '-m', 'Bytes', root.stdout.toString().trim()], {
    env: identity,
  });
  const bytes = stdout.toString().trim();
  expect([...(await lastCommits(repository, bytes, '\\xFD'))]).toEqual([['\\xFF\\xFE', bytes]]);
  const path = Buffer.from('\xfd/\xff\xfe', 'latin1');
  expect(await findLastCommit(repository, { commit: bytes, path })).toBe(bytes);
});

it('ends git once it has written enough, and passes on what its reader throws', async () => {
  const { repository } = await aRepository(history(7, true));
  const chunks: Buffer[] = [];
  const take = (chunk: Buffer): boolean => {
    chunks.push(chunk);
    return false;
  };
  const output = await runGit(repository.dir, ['cat-file', '--batch'], { input: 'main\n', onOutput: take });
  expect(output).toMatchObject({ isCut: true, stdout: Buffer.alloc(0) });
  expect(Buffer.concat(chunks).toString()).toContain('commit');
  const fail = (): boolean => {
    throw new Error('not understood');
  };
  await expect(runGit(repository.dir, ['log'], { onOutput: fail })).rejects.toThrow();
  await expect(runGit(repository.dir, ['log', 'main'], { onOutput: fail })).rejects.toThrow('not understood');
});

it('removes what ended processes left of creations and removals, but nothing young', async () => {
  const { repository } = await aRepository([]);
  const left = ['.new-1-aa', '.removed-1-aa'].map((name) => join(place.repositoriesDir, name));
  for (const path of left) mkdirSync(join(path, 'objects'), { recursive: true });
  expect(await removeUnfinished(place)).toBe(0);
  expect(left.every(existsSync)).toBe(true);
  expect(await removeUnfinished(place, { olderThanMs: 0 })).toBe(2);
  expect(left.some(existsSync)).toBe(false);
  expect(existsSync(repository.dir)).toBe(true);
  expect(await removeUnfinished({ repositoriesDir: join(place.repositoriesDir, 'absent') })).toBe(0);
});
