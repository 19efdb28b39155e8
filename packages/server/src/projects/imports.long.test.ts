import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { type FetchRepository, ImportError, startImportWorker } from './importWorker.ts';
import { aWorkTree, git, type WorkTree } from './testing/localGit.ts';

const URL = 'https://git.example/whales.git';
const FAST = { interval: 25, timeout: 20_000 };

/** The row of an import is its job. What fetches is given here; the hosting's own is tested with it. */
describe('imports', () => {
  let app: TestApp;
  let alice: Person;
  let source: WorkTree;
  let sha: string;
  let worker: { stop(): Promise<void> } | null = null;
  let n = 0;
  beforeAll(async () => {
    // Without its own workers, which would take the imports of these tests.
    app = await startTestApp({}, { role: 'api' });
    source = await aWorkTree('trunk');
    sha = await source.commit('Count whales');
  });
  afterAll(async () => {
    await app?.close();
    await source?.remove();
  });
  beforeEach(async () => {
    alice = await app.signUp();
  });
  afterEach(async () => {
    await worker?.stop();
    worker = null;
  });

  const run = (fetch: FetchRepository): void => {
    worker = startImportWorker(app.ctx, fetch);
  };
  const fetchAll: FetchRepository = async ({ dir }) => {
    await source.push(dir, 'refs/heads/*:refs/heads/*');
    await git(dir, 'symbolic-ref', 'HEAD', 'refs/heads/trunk');
  };
  const untilAborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));
  const importing = async (over: object = {}) => {
    n += 1;
    const given = { title: 'Whales', slug: `whales-${n}`, importUrl: URL, ...over };
    return (await alice.client(api.projects.create, given)).entity;
  };
  const view = async (id: number) => (await alice.client(api.projects.view, { id })).entity;
  const importOf = async (id: number) => (await view(id)).import;
  const kinds = async (id: number) =>
    (await alice.client(api.projects.activity, { projectRef: { id } })).entities.map(({ kind }) => kind);

  it('begin with the project, or later, and bring its branches, HEAD and size', async () => {
    const made = await importing();
    expect(made).toMatchObject({ canPush: false, import: { url: URL, status: 'queued', fraction: null, error: null } });
    const later = (await alice.client(api.projects.create, { title: 'Later', slug: `later-${n}` })).entity;
    await alice.client(api.projects.import, { id: later.id, url: URL });
    run(fetchAll);
    for (const { id } of [made, later]) {
      await expect.poll(async () => (await importOf(id))?.status, FAST).toBe('done');
      expect(await view(id)).toMatchObject({
        defaultBranch: 'trunk',
        isEmpty: false,
        lastCommit: { sha, message: 'Count whales' },
        import: { status: 'done', finishedAt: expect.any(String), deadline: null, phase: null },
      });
      expect((await view(id)).sizeBytes).toBeGreaterThan(0);
      expect((await kinds(id)).slice(0, 2)).toEqual(['import done', 'import started']);
    }
    await expect(alice.client(api.projects.import, { id: later.id, url: URL })).rejects.toMatchObject({
      body: { isSuccess: false, message: 'Only an empty project can import a repository' },
    });
  });

  it('show how far they are, and stop when they are canceled', async () => {
    let stopped = false;
    run(async (_, report, signal) => {
      report({ phase: 'receiving', fraction: 0.25, receivedBytes: 1_234_567 });
      await untilAborted(signal).finally(() => {
        stopped = true;
      });
    });
    const { id } = await importing();
    await expect
      .poll(() => importOf(id), FAST)
      .toMatchObject({
        status: 'running',
        phase: 'receiving',
        fraction: 0.25,
        receivedBytes: 1_234_567,
        startedAt: expect.any(String),
        deadline: expect.any(String),
      });
    const { entity } = await alice.client(api.projects.cancelImport, { id });
    expect(entity).toMatchObject({ import: { status: 'failed', error: 'Canceled' } });
    await expect.poll(() => stopped, FAST).toBe(true);
    expect(await importOf(id)).toMatchObject({ status: 'failed', error: 'Canceled' });
    await expect(alice.client(api.projects.cancelImport, { id })).rejects.toMatchObject({
      body: { isSuccess: false, message: 'Nothing is being imported' },
    });
    expect((await kinds(id))[0]).toBe('import failed');
  });

  it('fail with a reason for people, and may be tried again', async () => {
    let attempts = 0;
    run(async (...given) => {
      attempts += 1;
      if (attempts === 1) throw new ImportError('This address has no repository');
      if (attempts === 2) throw new Error('a secret of the machine');
      await fetchAll(...given);
    });
    const { id } = await importing();
    const ended = (status: string, error: string | null) =>
      expect.poll(() => importOf(id), FAST).toMatchObject({ status, error });
    await ended('failed', 'This address has no repository');
    expect(await view(id)).toMatchObject({ isEmpty: true, canPush: true });
    await alice.client(api.projects.import, { id, url: URL });
    await ended('failed', 'The import failed unexpectedly');
    await alice.client(api.projects.import, { id, url: URL });
    await ended('done', null);
  });

  it('are given up at their deadline', async () => {
    const { id } = await importing();
    await sql`update project_import set deadline = now() + interval '1 second' where project_id = ${id}`.execute(
      app.ctx.db,
    );
    run((_job, _report, signal) => untilAborted(signal));
    await expect
      .poll(() => importOf(id), FAST)
      .toMatchObject({ status: 'failed', error: 'The import did not end in time' });
  });

  it('go on in another process when theirs ends', async () => {
    let began = false;
    run((_job, _report, signal) => {
      began = true;
      return untilAborted(signal);
    });
    const { id } = await importing();
    await expect.poll(() => began, FAST).toBe(true);
    await worker!.stop();
    expect(await importOf(id)).toMatchObject({ status: 'running', error: null });
    await sql`update project_import set next_at = now() where project_id = ${id}`.execute(app.ctx.db);
    run(fetchAll);
    await expect.poll(async () => (await importOf(id))?.status, FAST).toBe('done');
  });

  it('are one at a time for each project', async () => {
    const { id } = await importing();
    const again = () => alice.client(api.projects.import, { id, url: URL });
    await expect(again()).rejects.toMatchObject({
      body: { isSuccess: false, message: 'A repository is being imported into this project' },
    });
    await expect(alice.client(api.projects.archive, { id })).rejects.toMatchObject({ body: { isSuccess: false } });
    const empty = (await alice.client(api.projects.create, { title: 'Empty', slug: `empty-${n}` })).entity;
    const answers = await Promise.allSettled(
      Array.from({ length: 5 }, () => alice.client(api.projects.import, { id: empty.id, url: URL })),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});
