import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDaemonApp } from '../app/app.ts';
import { runGit } from '../git/run.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { anOpenRun, aProjectWith, askSource, openSource, type TestRun } from './testing/openRun.ts';

const run = promisify(execFile);
const MiB = 1024 * 1024;

let app: TestApp;
let alice: Person;
let folder: string;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
  alice = await app.signUp('Alice');
  folder = await mkdtemp(join(tmpdir(), 'stagi-source-'));
});
afterAll(async () => {
  await app?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The files of an archive by path: content, and the target of a symbolic link. */
async function unpacked(tar: Buffer): Promise<Record<string, string>> {
  const dir = await mkdtemp(join(folder, 'tar-'));
  await writeFile(`${dir}.tar`, tar);
  await run('tar', ['-x', '-f', `${dir}.tar`, '-C', dir]);
  const files: Record<string, string> = {};
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(dir.length + 1);
    if (entry.isSymbolicLink()) files[name] = `-> ${await readlink(path)}`;
    else if (entry.isFile())
      files[name] = `${((await stat(path)).mode & 0o777).toString(8)} ${await readFile(path, 'utf8')}`;
    else if ((await readdir(path)).length === 0) files[`${name}/`] = '';
  }
  return files;
}

async function sourceOf({ token }: Pick<TestRun, 'token'>): Promise<Record<string, string>> {
  const answer = await askSource(app, token);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-tar']);
  return unpacked(Buffer.from(await answer.arrayBuffer()));
}

const sourceRun = async (project: { id: number; shas: string[] }, n = 0): Promise<TestRun> =>
  anOpenRun(app, alice, { project_id: project.id, commit_sha: project.shas[n]! });

describe('the source of a run', () => {
  it('is its commit, whatever else the repository holds', async () => {
    const project = await aProjectWith(app, alice, [
      { message: 'one', files: { 'a.txt': 'first', 'deep/er/b.txt': 'b', 'имя 🙂.txt': 'name' } },
      {
        message: 'two',
        files: {
          'a.txt': 'second',
          'run.sh': { mode: '100755', content: 'echo' },
          link: { mode: '120000', content: 'a.txt' },
          sub: { mode: '160000', content: '1'.repeat(40) },
        },
      },
    ]);
    const names = { 'deep/er/b.txt': '644 b', 'имя 🙂.txt': '644 name' };
    expect(await sourceOf(await sourceRun(project, 0))).toEqual({ 'a.txt': '644 first', ...names });
    expect(await sourceOf(await sourceRun(project, 1))).toEqual({
      'a.txt': '644 second',
      'run.sh': '755 echo',
      link: '-> a.txt',
      'sub/': '',
      ...names,
    });
  });

  it('is all of its commit: its attributes neither leave files out nor run anything', async () => {
    const attributes = [
      '* export-ignore',
      '/hidden export-ignore',
      '*.txt export-subst filter=evil diff=evil',
      '*.bat text eol=crlf',
    ].join('\n');
    const files = {
      '.gitattributes': attributes,
      'hidden/x': 'x',
      'f.txt': '$Format:%H %(describe)$',
      'r.bat': 'a\nb\n',
    };
    const project = await aProjectWith(app, alice, [{ message: 'attributes', files }]);
    expect(await sourceOf(await sourceRun(project))).toEqual({
      '.gitattributes': `644 ${attributes}`,
      'hidden/x': '644 x',
      'f.txt': '644 $Format:%H %(describe)$',
      // As a checkout has it.
      'r.bat': '644 a\r\nb\r\n',
    });
  });

  it('is refused before its first byte when it is gone or cannot be files', async () => {
    const project = await aProjectWith(app, alice, [{ message: 'one', files: { a: 'a' } }]);
    const gone = await askSource(app, (await sourceRun({ ...project, shas: ['0'.repeat(40)] })).token);
    expect([gone.status, ((await gone.json()) as { message: string }).message]).toEqual([
      422,
      'Its commit is no longer in the repository of the project',
    ]);
    let n = 0;
    for (const name of ['..', '.', '.git', '../evil']) {
      const blob = (await runGit(project.dir, ['hash-object', '-w', '--stdin'], { input: 'x' })).stdout
        .toString()
        .trim();
      const entry = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')]);
      const tree = await runGit(project.dir, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], {
        input: entry,
      });
      const commit = await runGit(project.dir, ['commit-tree', tree.stdout.toString().trim(), '-m', 'evil'], {
        env: {
          GIT_AUTHOR_NAME: 'a',
          GIT_AUTHOR_EMAIL: 'a@b',
          GIT_COMMITTER_NAME: 'a',
          GIT_COMMITTER_EMAIL: 'a@b',
        },
      });
      const answer = await askSource(
        app,
        (await sourceRun({ ...project, shas: [commit.stdout.toString().trim()] })).token,
      );
      expect.soft(answer.status, name).toBe(422);
      expect.soft(await answer.text(), name).toContain('cannot be a file');
      n += 1;
    }
    console.log(`hostile names in a commit: n = ${n}, 0 sent`);
  });

  it('comes from the listener of machines, too, and from no host of content', async () => {
    const project = await aProjectWith(app, alice, [{ message: 'one', files: { a: 'a' } }]);
    const { token } = await sourceRun(project);
    const machines = await buildDaemonApp(app.ctx);
    try {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await machines.inject({ method: 'GET', url: '/daemon-api/task/source', headers });
      expect(answer.statusCode).toBe(200);
      expect(await unpacked(answer.rawPayload)).toEqual({ a: '644 a' });
    } finally {
      await machines.close();
    }
    const content = new URL(app.ctx.config.contentOrigin).host;
    expect((await openSource(app, token, content)).statusCode).not.toBe(200);
  });

  it('is sent to many at once, each its own', async () => {
    const project = await aProjectWith(
      app,
      alice,
      Array.from({ length: 40 }, (_, n) => ({ message: `${n}`, files: { n: String(n) } })),
    );
    const runs = await Promise.all(project.shas.map((_, n) => sourceRun(project, n)));
    const sources = await Promise.all(runs.map(sourceOf));
    expect(sources).toEqual(project.shas.map((_, n) => ({ n: `644 ${n}` })));
    console.log(`sources at once: n = ${sources.length}`);
  });
});

describe('a source under way', () => {
  it('ends git when the client leaves', async () => {
    const project = await aProjectWith(app, alice, [{ message: 'large', files: { large: randomBytes(32 * MiB) } }]);
    const { token } = await sourceRun(project);
    const answers = await Promise.all(Array.from({ length: 3 }, () => openSource(app, token)));
    await expect.poll(() => archivesOf(project.dir)).toBe(3);
    for (const answer of answers) answer.on('error', () => {}).destroy();
    await expect.poll(() => archivesOf(project.dir), { timeout: 10_000 }).toBe(0);
  });
});

/** Running `git archive` of a repository. */
async function archivesOf(dir: string): Promise<number> {
  let found = 0;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    try {
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
      if (words.includes('archive') && environment.split('\0').includes(`GIT_DIR=${dir}`)) found += 1;
    } catch (error) {
      // It has ended meanwhile, or is somebody else's.
      if (!['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return found;
}
