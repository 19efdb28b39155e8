import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { visitContent } from '../contentHost/testing/visitContent.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { aProjectToRead } from './testing/aProjectToRead.ts';
import { aProjectWith, type CodeProject } from './testing/aRepository.ts';

let app: TestApp;
let owner: Person;
let project: CodeProject;

beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  owner = await app.signUp('Ada');
  project = await aProjectToRead(app, owner);
});
afterAll(() => app?.close());

const tree = (more: object = {}) => owner.client(api.projectCode.tree, { id: project.id, ...more });
const blob = (path: string, more: object = {}) => owner.client(api.projectCode.blob, { id: project.id, path, ...more });

describe('the tree of a commit', () => {
  it('lists folders first, each entry with its last commit', async () => {
    const answer = await tree();
    expect(answer).toMatchObject({
      branch: 'main',
      refKind: 'branch',
      defaultBranch: 'main',
      commit: { sha: project.shas[5], title: 'Only blanks' },
      readme: { name: 'README.md', path: 'README.md' },
      isMore: false,
    });
    expect(answer.entries.map(({ name, type }) => `${type} ${name}`)).toEqual([
      'tree src',
      'tree vendor',
      'blob .gitmodules',
      'blob README.md',
      'blob big.txt',
      'blob data.bin',
      'blob image.png',
      'blob latin1.txt',
      'symlink link',
      'blob model.bin',
      'blob utf16.txt',
    ]);
    const byName = Object.fromEntries(answer.entries.map((entry) => [entry.name, entry]));
    expect(byName.src).toMatchObject({ size: null, lastCommit: { title: 'Only blanks' } });
    expect(byName['README.md']).toMatchObject({ size: 8, mode: '100644', lastCommit: { title: 'Begin' } });
  });

  it('reads a folder, a tag, a branch with a slash and an older commit', async () => {
    expect((await tree({ path: 'src' })).entries.map(({ path }) => path)).toEqual(['src/main.py', 'src/moved.txt']);
    expect(await tree({ branch: 'v1.0' })).toMatchObject({ refKind: 'tag', commit: { sha: project.shas[1] } });
    expect(await tree({ branch: 'topic/x', path: 'src/deep' })).toMatchObject({
      refKind: 'branch',
      lastCommit: { title: 'On a branch' },
    });
    expect((await tree({ sha: project.shas[0], path: 'src' })).entries.map(({ name }) => name)).toEqual([
      'deep',
      'main.py',
    ]);
  });

  it('is empty for an empty project, and refuses anything by name in it', async () => {
    const { id } = await aProjectWith(app, owner, 'empty', []);
    expect(await tree({ id })).toMatchObject({ commit: null, entries: [], raw: null });
    await expect(tree({ id, branch: 'main' })).rejects.toMatchObject({ status: 404 });
    expect(await owner.client(api.projectCode.commits, { id })).toMatchObject({ commits: [], next: null });
    expect(await owner.client(api.projectCode.refs, { id, kind: 'branch' })).toMatchObject({ refs: [], totalCount: 0 });
  });
});

it('says what a file is: text, binary, too large, a pointer, a link, a submodule', async () => {
  expect((await blob('src/main.py')).content).toEqual({ kind: 'text', text: 'import  os\nprint("bye")\n' });
  expect((await blob('utf16.txt')).content).toEqual({
    kind: 'text',
    text: 'hällo\n',
    encoding: 'utf-16le',
  });
  expect((await blob('latin1.txt')).content).toEqual({ kind: 'text', text: 'caf\ufffd\n' });
  expect(await blob('data.bin')).toMatchObject({ content: { kind: 'binary' }, imageType: null, size: 3 });
  expect(await blob('image.png')).toMatchObject({ content: { kind: 'binary' }, imageType: 'image/png' });
  expect((await blob('big.txt')).content).toEqual({ kind: 'too-large', limitBytes: 1024 * 1024 });
  expect((await blob('model.bin')).content).toEqual({ kind: 'lfs', oid: `sha256:${'a'.repeat(64)}`, sizeBytes: 12345 });
  expect(await blob('link')).toMatchObject({
    type: 'symlink',
    content: { kind: 'symlink', target: '../../etc/passwd' },
    raw: null,
  });
  expect((await blob('vendor/lib')).content).toEqual({
    kind: 'submodule',
    commit: '1'.repeat(40),
    url: 'https://git.example/lib.git',
  });
});

describe('a commit', () => {
  const commit = (n: number, more: object = {}) =>
    owner.client(api.projectCode.commit, { id: project.id, sha: project.shas[n], ...more });

  it('has its message, its parents and a unified patch of each file', async () => {
    const { entity, files, totals } = await commit(1);
    expect(entity).toMatchObject({
      title: 'Change one file',
      author: { name: 'Bob', email: 'bob@example.com' },
      parents: [{ title: 'Begin' }],
    });
    expect(totals).toEqual({ files: 1, additions: 1, deletions: 1 });
    expect(files).toMatchObject([{ path: 'src/main.py', status: 'modified', isBinary: false, isCut: false }]);
    expect(files[0]!.patch).toContain('@@ -1,2 +1,2 @@\n import os\n-print("hello")\n+print("bye")\n');
  });

  it('shows the first commit as added files, without patches of binary ones', async () => {
    const { entity, files, totals } = await commit(0);
    expect(entity.body).toBe('With a body\nof two lines.');
    expect(totals.files).toBe(12);
    expect(files.every(({ status, oldSha }) => status === 'added' && oldSha === null)).toBe(true);
    expect(files.find(({ path }) => path === 'image.png')).toMatchObject({
      isBinary: true,
      patch: null,
      additions: null,
    });
  });

  it('follows a renaming, compares a merge with its first parent, and can be narrowed to a path', async () => {
    expect((await commit(3)).files).toMatchObject([
      { status: 'renamed', oldPath: 'src/deep/a.txt', path: 'src/moved.txt' },
    ]);
    expect(await commit(4)).toMatchObject({ entity: { parents: [{}, {}] }, totals: { files: 1 } });
    expect((await commit(0, { path: 'src' })).files.map(({ path }) => path)).toEqual(['src/deep/a.txt', 'src/main.py']);
  });

  it('leaves out what only differs in white space when told so', async () => {
    expect((await commit(5)).totals).toEqual({ files: 1, additions: 1, deletions: 1 });
    expect(await commit(5, { ignoreWhitespace: true })).toMatchObject({ files: [], totals: { files: 0 } });
  });
});

it('pages through a history, also that of a path and of a removed file', async () => {
  const titles: string[] = [];
  for (let cursor: string | undefined, n = 0; n < 10; n += 1) {
    const page = await owner.client(api.projectCode.commits, { id: project.id, limit: 2, ...(cursor && { cursor }) });
    titles.push(...page.commits.map(({ title }) => title));
    if (!page.next) break;
    cursor = page.next;
  }
  expect(titles).toEqual([
    'Only blanks',
    'Merge the branch',
    'Move and remove',
    'On a branch',
    'Change one file',
    'Begin',
  ]);
  const of = async (path: string) =>
    (await owner.client(api.projectCode.commits, { id: project.id, path })).commits.map(({ title }) => title);
  expect(await of('src/main.py')).toEqual(['Only blanks', 'Change one file', 'Begin']);
  expect(await of('src/deep/a.txt')).toContain('Move and remove');
});

it('lists branches and tags, the default branch first, and finds them by a part of their name', async () => {
  const refs = (more: object) => owner.client(api.projectCode.refs, { id: project.id, kind: 'branch', ...more });
  expect((await refs({})).refs.map(({ name }) => name)).toEqual(['main', 'topic/x']);
  expect((await refs({ query: 'TOPIC' })).refs).toMatchObject([{ name: 'topic/x', commit: { title: 'On a branch' } }]);
  expect((await refs({ kind: 'tag' })).refs).toMatchObject([{ name: 'v1.0', isDefault: false }]);
});

it('finds lines and paths', async () => {
  const search = (query: string, more: object = {}) =>
    owner.client(api.projectCode.search, { id: project.id, query, ...more });
  expect((await search('PRINT')).files).toEqual([
    { path: 'src/main.py', lines: [{ line: 2, text: 'print("bye")' }], isMore: false },
  ]);
  expect((await search('PRINT', { matchCase: true })).files).toEqual([]);
  expect((await search('moved')).paths).toEqual(['src/moved.txt']);
  expect((await search('--output=/tmp/x')).files).toEqual([]);
});

it('says who changed each line', async () => {
  const { ranges, commits } = await owner.client(api.projectCode.blame, { id: project.id, path: 'src/moved.txt' });
  expect(ranges.map(({ line, lines, sha }) => [line, lines, project.shas.indexOf(sha)])).toEqual([
    [1, 1, 0],
    [2, 1, 2],
    [3, 1, 0],
  ]);
  expect(ranges[0]!.oldPath).toBe('src/deep/a.txt');
  expect(commits.map(({ title }) => title).toSorted()).toEqual(['Begin', 'On a branch']);
});

describe('files as they are, on the content host', () => {
  const visit = async (path: string) => visitContent(app, (await tree()).raw!.link + path);

  it('are text as plain text, images as images, the rest as bytes', async () => {
    expect(await visit('src/main.py')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    });
    expect((await visit('image.png')).headers).toMatchObject({
      'content-type': 'image/png',
      'cross-origin-resource-policy': 'cross-origin',
    });
    expect((await visit('data.bin')).headers['content-type']).toBe('application/octet-stream');
    expect((await visit('README.md?download')).headers['content-disposition']).toMatch(/^attachment/);
    expect((await visit('link')).status).toBe(404);
    expect((await visit('absent')).status).toBe(404);
  });

  it('end with the membership', async () => {
    const { raw } = await tree();
    await app.ctx.db.updateTable('app_user').set({ disabled_at: new Date() }).where('id', '=', owner.userId).execute();
    expect((await visitContent(app, `${raw!.link}README.md`)).status).toBe(410);
    await app.ctx.db.updateTable('app_user').set({ disabled_at: null }).where('id', '=', owner.userId).execute();
    expect((await visitContent(app, `${raw!.link}README.md`)).status).toBe(200);
  });
});
