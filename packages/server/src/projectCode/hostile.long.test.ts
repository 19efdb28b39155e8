import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { escapePath } from '@stagi/contract/codePath.ts';
import { GENERIC_ERROR } from '@stagi/contract/errors.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { visitContent } from '../contentHost/testing/visitContent.ts';
import { runGit } from '../git/run.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { aProjectWith, type CodeProject } from './testing/aRepository.ts';

const SECRET = 'canary-of-what-nobody-may-read';

let app: TestApp;
let owner: Person;
let project: CodeProject;
let foreign: CodeProject;
let folder: string;
/** In this repository, but of no branch and tag. */
let unreachable: { commit: string; tree: string; blob: string };
let tagObject: string;

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  folder = mkdtempSync(join(tmpdir(), 'stagi-hostile-'));
  writeFileSync(join(folder, 'secret'), SECRET);
  owner = await app.signUp('Ada');
  const other = await app.signUp('Eve');
  project = await aProjectWith(app, owner, 'hostile', [
    {
      message: 'Begin',
      files: {
        'README.md': 'hello\n',
        'src/a.txt': 'a\n',
        '--output=x': 'an option\n',
        ':(top)': 'magic\n',
        'link-up': { mode: '120000', content: join(folder, 'secret') },
        'link-folder': { mode: '120000', content: folder },
        'link-git': { mode: '120000', content: '../config' },
      },
    },
    { message: SECRET, branch: 'gone', files: { secret: SECRET } },
  ]);
  foreign = await aProjectWith(app, other, 'foreign', [{ message: SECRET, files: { 'README.md': SECRET } }]);
  const revParse = async (what: string) => (await runGit(project.dir, ['rev-parse', what])).stdout.toString().trim();
  unreachable = {
    commit: await revParse('gone'),
    tree: await revParse('gone^{tree}'),
    blob: await revParse('gone:secret'),
  };
  await runGit(project.dir, ['update-ref', '-d', 'refs/heads/gone']);
  await runGit(project.dir, ['tag', '-a', '-m', 'annotated', 'v1', 'main'], {
    env: { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' },
  });
  tagObject = await revParse('v1');
  // What a hostile push could leave, if checks of git failed.
  await runGit(project.dir, ['update-ref', 'refs/internal/kept', unreachable.commit]);
  await runGit(project.dir, ['update-ref', `refs/replace/${project.shas[0]}`, unreachable.commit]);
});
afterAll(async () => {
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});

const calls = {
  tree: (more: object) => owner.client(api.projectCode.tree, { id: project.id, ...more }),
  blob: (more: object) => owner.client(api.projectCode.blob, { id: project.id, path: 'README.md', ...more }),
  commit: (more: object) => owner.client(api.projectCode.commit, { id: project.id, ...more }),
  commits: (more: object) => owner.client(api.projectCode.commits, { id: project.id, ...more }),
  search: (more: object) => owner.client(api.projectCode.search, { id: project.id, query: 'ca', ...more }),
  blame: (more: object) => owner.client(api.projectCode.blame, { id: project.id, path: 'README.md', ...more }),
};
type Name = keyof typeof calls;

/** Paths that lead to nothing, though the file system, git or a shell could read something else into them. */
const PATHS = [
  '..',
  '../config',
  '../../etc/passwd',
  'src/../../config',
  'src/..',
  './README.md',
  'src/./a.txt',
  '/etc/passwd',
  '/README.md',
  'README.md/',
  'src//a.txt',
  '.git',
  '.git/config',
  '.GIT/config',
  '.git./config',
  '.git /config',
  '.g\u200cit/config',
  'git~1/config',
  'src/.git/HEAD',
  '..\\config',
  'src\\a.txt',
  'README.md\0.png',
  'README.md\n',
  '\nREADME.md',
  'README.md\r',
  '..%2fconfig',
  '%2e%2e/config',
  ':(top)README.md',
  ':(glob)**',
  ':/README.md',
  ':!src',
  ':^src',
  ':(exclude)src',
  '*',
  'README.*',
  'src/[a].txt',
  '--output=/tmp/stagi-escaped',
  '-O/tmp/stagi-escaped',
  '--no-index',
  '--upload-pack=touch /tmp/stagi-escaped',
  '$(touch /tmp/stagi-escaped)',
  '`touch /tmp/stagi-escaped`',
  'README.md; touch /tmp/stagi-escaped',
  'README.md | cat',
  'link-folder/secret',
  'link-up/x',
  'README.md/x',
  '\u202e',
  'x'.repeat(4_000),
];
/** Names of branches that lead to nothing, though `git rev-parse` would understand many of them. */
const REFS = [
  '--upload-pack=touch /tmp/stagi-escaped',
  '--output=/tmp/stagi-escaped',
  '-O/tmp/stagi-escaped',
  '--all',
  '-1',
  '@{-1}',
  '@{0}',
  '@',
  'HEAD',
  'HEAD~1',
  'main~0',
  'main^',
  'main^{tree}',
  'main:README.md',
  ':README.md',
  ':/Begin',
  'main..gone',
  'main@{0}',
  'main@{upstream}',
  'refs/heads/main',
  'heads/main',
  'refs/internal/kept',
  '../internal/kept',
  '../../config',
  'main/',
  '/main',
  'main//x',
  'main.lock',
  '.main',
  'ma*n',
  'm?in',
  '[m]ain',
  'main\0',
  'main\n',
  'main\nrefs/internal/kept',
  'main ',
  'ma in',
  'main\\',
  '$(id)',
  '`id`',
  'gone',
];

/** Nothing of what must stay hidden, and no error of ours. */
async function refused(what: string, act: () => Promise<unknown>): Promise<void> {
  const [answer, error] = await act().then(
    (value) => [value, null] as const,
    (reason: unknown) => [null, reason as { status?: number; message: string }] as const,
  );
  expect(JSON.stringify(answer) ?? '', what).not.toContain(SECRET);
  expect(error?.message ?? '', what).not.toContain(SECRET);
  expect(error?.message, what).not.toBe(GENERIC_ERROR);
  expect(error ? [400, 404] : answer, `${what}: ${JSON.stringify(answer)}`).toEqual(
    error ? expect.arrayContaining([error.status]) : NOTHING,
  );
}
const NOTHING = expect.objectContaining({ isSuccess: true });

/** With an answer only where nothing was found: a history or a diff of a path that never was is empty. */
const isEmpty = (answer: unknown): boolean => {
  const { commits, files, entries, content } = answer as Record<string, unknown[] | undefined>;
  return !content && !entries?.length && [commits, files].every((list) => !list || list.length === 0);
};

describe('hostile requests for code', () => {
  let count = 0;
  afterAll(() => {
    console.log(`hostile code requests: n = ${count}, 0 escapes`);
    expect(count).toBeGreaterThan(60);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('stagi-escaped'))).toEqual([]);
    expect(existsSync(join(project.dir, 'x'))).toBe(false);
  });

  it('by a path find nothing', async () => {
    for (const path of PATHS) {
      for (const name of Object.keys(calls) as Name[]) {
        const what = `${name} of path ${JSON.stringify(path.slice(0, 60))}`;
        await refused(what, async () => {
          const answer = await calls[name]({ path });
          expect(isEmpty(answer), `${what}: ${JSON.stringify(answer)}`).toBe(true);
          return answer;
        });
        count += 1;
      }
    }
  });

  it('by a branch find nothing', async () => {
    for (const branch of REFS) {
      for (const name of Object.keys(calls) as Name[]) {
        const what = `${name} of branch ${JSON.stringify(branch)}`;
        await expect(calls[name]({ branch }), what).rejects.toMatchObject({ status: expect.toBeOneOf([400, 404]) });
        count += 1;
      }
    }
  });

  it('by a hash find only commits that a branch or tag contains', async () => {
    const hashes = [
      unreachable.commit,
      unreachable.tree,
      unreachable.blob,
      foreign.shas[0]!,
      tagObject,
      (await runGit(project.dir, ['rev-parse', 'main^{tree}'])).stdout.toString().trim(),
      '0'.repeat(40),
      'f'.repeat(40),
      'f'.repeat(64),
      project.shas[0]!.slice(0, 12),
      project.shas[0]!.toUpperCase(),
      `${project.shas[0]!}\n`,
      `-${project.shas[0]!.slice(1)}`,
      `${project.shas[0]!}^`,
    ];
    for (const sha of hashes) {
      for (const name of Object.keys(calls) as Name[]) {
        for (const more of [{ sha }, { sha, branch: 'main' }]) {
          const what = `${name} of ${JSON.stringify(sha)}`;
          await expect(calls[name](more), what).rejects.toMatchObject({ status: expect.toBeOneOf([400, 404]) });
          count += 1;
        }
      }
    }
    for (const start of [unreachable.commit, foreign.shas[0]!, '0'.repeat(40)]) {
      await expect(calls.commits({ cursor: `${start}.0` })).rejects.toMatchObject({ status: 404 });
      count += 1;
    }
  });

  it('by another id find no project of another workspace, also with hashes that exist there', async () => {
    for (const name of Object.keys(calls) as Name[]) {
      await expect(calls[name]({ id: foreign.id })).rejects.toMatchObject({ status: 404 });
      await expect(calls[name]({ id: foreign.id, sha: foreign.shas[0] })).rejects.toMatchObject({ status: 404 });
      count += 2;
    }
  });

  it('by a search term search for it', async () => {
    for (const query of [
      '--open-files-in-pager=touch /tmp/stagi-escaped',
      '-O/tmp/stagi-escaped',
      '-f/etc/passwd',
      '.*z',
      '\\\\',
      '--all-match',
    ]) {
      const { files } = await calls.search({ query });
      expect(files, query).toEqual([]);
      count += 1;
    }
  });

  it('show links as text and names as names', async () => {
    expect(await calls.blob({ path: 'link-up' })).toMatchObject({ content: { kind: 'symlink' }, raw: null });
    expect(await calls.blob({ path: 'link-git' })).toMatchObject({ content: { kind: 'symlink', target: '../config' } });
    expect(await calls.blob({ path: '--output=x' })).toMatchObject({ content: { text: 'an option\n' } });
    expect(await calls.blob({ path: ':(top)' })).toMatchObject({ content: { text: 'magic\n' } });
    expect((await calls.commits({ path: '--output=x' })).commits).toHaveLength(1);
    expect((await calls.commits({ path: ':(top)' })).commits).toHaveLength(1);
    expect((await calls.blame({ path: '--output=x' })).ranges).toHaveLength(1);
    expect(await calls.commit({ path: ':(top)' })).toMatchObject({ totals: { files: 1 } });
    // Not what the replacement ref says.
    expect((await calls.tree({})).commit?.title).toBe('Begin');
    count += 9;
  });

  it('for raw files find nothing', async () => {
    const { raw } = await calls.tree({});
    const paths = [
      ...PATHS.map((path) => path.split('/').map(encodeURIComponent).join('/')),
      '%',
      '%ff',
      '%2e%2e%2fconfig',
      'src%2fa.txt%00',
      'link-up',
      'link-git',
      'src',
    ];
    // What an address resolves by itself (`./x`) asks for another path.
    for (const path of paths.filter((one) => new URL(raw!.link + one).href === raw!.link + one)) {
      const answer = await visitContent(app, raw!.link + path);
      expect([path, answer.body.toString().includes(SECRET)]).toEqual([path, false]);
      expect([400, 404], path).toContain(answer.status);
      count += 1;
    }
    const ticket = new URL(raw!.link).pathname.split('/')[2]!;
    for (const changed of [`${ticket.slice(0, -2)}xx`, ticket.slice(1), 'x', '.', `x${ticket}`]) {
      const answer = await visitContent(app, `${app.ctx.config.contentOrigin}/code/${changed}/README.md`);
      expect(answer.status, changed).toBe(404);
      count += 1;
    }
  });
});

describe('a tree with hostile names', () => {
  it('is listed, and what could not be checked out cannot be opened', async () => {
    const blob = (await runGit(project.dir, ['hash-object', '-w', '--stdin'], { input: SECRET })).stdout
      .toString()
      .trim();
    const names = [
      '.git',
      '..',
      '.',
      'a\nb',
      'a\\b',
      '.GIT',
      'git~1',
      'a/b',
      '<img src=x onerror=alert(1)>',
      '-rf',
      '\u202etxt.exe',
      '\ufeff.git',
    ];
    const body = Buffer.concat(
      names
        .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
        .flatMap((name) => [Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')]),
    );
    const tree = (
      await runGit(project.dir, ['hash-object', '-w', '--literally', '-t', 'tree', '--stdin'], { input: body })
    ).stdout
      .toString()
      .trim();
    const commit = (
      await runGit(project.dir, ['commit-tree', '-m', 'hostile', tree], {
        env: { GIT_AUTHOR_NAME: 'E', GIT_AUTHOR_EMAIL: 'e', GIT_COMMITTER_NAME: 'E', GIT_COMMITTER_EMAIL: 'e' },
      })
    ).stdout
      .toString()
      .trim();
    await runGit(project.dir, ['update-ref', 'refs/heads/names', commit]);
    const { entries } = await calls.tree({ branch: 'names' });
    expect(entries.map(({ name }) => name).toSorted()).toEqual(names.map(escapePath).toSorted());
    const opened = await Promise.all(
      names.map((path) =>
        calls.blob({ branch: 'names', path: escapePath(path) }).then(
          () => path,
          () => null,
        ),
      ),
    );
    expect(opened.filter((name) => name !== null)).toEqual([
      'a\nb',
      'a\\b',
      '<img src=x onerror=alert(1)>',
      '-rf',
      '\u202etxt.exe',
    ]);
    const answer = await calls.commit({ branch: 'names' });
    expect(answer.totals.files).toBe(names.length);
    console.log(`hostile names in a tree: n = ${names.length}`);
  });
});
