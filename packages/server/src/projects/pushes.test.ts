import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { eventsOf } from '../testing/eventStream.ts';
import type { Person } from '../testing/person.ts';
import { repositoryPath } from './gitAccess.ts';
import { recordPush } from './recordPush.ts';
import { aWorkTree, git, type WorkTree } from './testing/localGit.ts';

/** What the git hosting does after a push has landed in the repository. */
describe('the record of a push', () => {
  let app: TestApp;
  let alice: Person;
  let id: number;
  let dir: string;
  let n = 0;
  const trees: WorkTree[] = [];
  beforeAll(async () => {
    app = await startTestApp();
    alice = await app.signUp();
  });
  afterAll(() => app?.close());
  afterEach(async () => {
    await Promise.all(trees.splice(0).map((tree) => tree.remove()));
  });
  beforeEach(async () => {
    n += 1;
    id = (await alice.client(api.projects.create, { title: 'Vision', slug: `vision-${n}` })).entity.id;
    dir = await repositoryPath(app.ctx, id);
  });

  const view = async () => (await alice.client(api.projects.view, { id })).entity;
  async function workTree(branch?: string): Promise<WorkTree> {
    const tree = await aWorkTree(branch);
    trees.push(tree);
    return tree;
  }
  const record = (name = 'refs/heads/main', after: string | null = null) =>
    recordPush(app.ctx, {
      projectId: id,
      userId: alice.userId,
      via: 'https',
      refs: [{ name, before: null, after, isForced: false }],
    });

  it('shows size, last commit and activity, and tells open pages', async () => {
    const tree = await workTree();
    const sha = await tree.commit('Say hello\n\nAt length.', 'hello'.repeat(1_000));
    const events = await eventsOf(app.url, alice);
    await tree.push(dir, 'main');
    await record('refs/heads/main', sha);
    expect(await view()).toMatchObject({
      isEmpty: false,
      lastCommit: { sha, message: 'Say hello', at: expect.any(String) },
      lastPushAt: expect.any(String),
      sizeBytes: expect.any(Number),
    });
    expect((await view()).sizeBytes).toBeGreaterThan(0);
    const { entities } = await alice.client(api.projects.activity, {
      projectRef: { id },
      entityFilterRequest: { statuses: ['push'] },
    });
    expect(entities).toEqual([
      expect.objectContaining({
        kind: 'push',
        via: 'https',
        refCount: 1,
        refs: [{ name: 'refs/heads/main', before: null, after: sha, isForced: false }],
        instance: null,
      }),
    ]);
    await expect.poll(() => events.received).toContainEqual({ type: 'changed', entity: 'project', id });
    await events.leave();
  });

  it('makes the first branch the default one, and keeps it when others follow', async () => {
    const tree = await workTree('trunk');
    const sha = await tree.commit('First');
    await tree.push(dir, 'trunk');
    await record('refs/heads/trunk', sha);
    expect(await view()).toMatchObject({ defaultBranch: 'trunk', lastCommit: { sha } });
    expect(await git(dir, 'symbolic-ref', 'HEAD')).toBe('refs/heads/trunk');
    await tree.push(dir, 'trunk:refs/heads/main');
    await record();
    expect(await view()).toMatchObject({ defaultBranch: 'trunk' });
    const { entity } = await alice.client(api.projects.edit, { id, defaultBranch: 'main' });
    expect(entity).toMatchObject({ defaultBranch: 'main', lastCommit: { sha } });
    await expect.poll(() => git(dir, 'symbolic-ref', 'HEAD'), { interval: 50 }).toBe('refs/heads/main');
  });

  it('knows a repository with only tags, and one whose branches were deleted', async () => {
    const tree = await workTree();
    await tree.commit('First');
    await git(tree.dir, 'tag', 'v1');
    await tree.push(dir, 'refs/tags/v1');
    await record('refs/tags/v1');
    expect(await view()).toMatchObject({ isEmpty: false, lastCommit: null });
    await git(tree.dir, 'push', '--quiet', dir, ':refs/tags/v1');
    await record('refs/tags/v1');
    expect(await view()).toMatchObject({ isEmpty: true, lastCommit: null });
  });

  it('ends with what the repository holds, whichever of many at once is recorded last', async () => {
    const tree = await workTree();
    await tree.commit('First');
    const count = 12;
    await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        await tree.push(dir, `main:refs/heads/branch-${index}`);
        await record(`refs/heads/branch-${index}`);
      }),
    );
    const sha = await tree.commit('Second');
    await Promise.all([tree.push(dir, 'main').then(() => record('refs/heads/main', sha)), record(), record()]);
    expect(await view()).toMatchObject({ lastCommit: { sha, message: 'Second' } });
    const { totalCount } = await alice.client(api.projects.activity, {
      projectRef: { id },
      entityFilterRequest: { queryString: 'branch-' },
    });
    expect(totalCount).toBe(count);
    console.log(`pushes recorded at once: n = ${count + 3}, none lost`);
  });

  it('is made up for when the process ended before it: the worker looks after a push that began', async () => {
    const tree = await workTree();
    const sha = await tree.commit('Unrecorded');
    await tree.push(dir, 'main');
    await sql`update project set push_begun_at = now(), next_at = now() where id = ${id}`.execute(app.ctx.db);
    app.ctx.bus.publish('due', { kind: 'project' });
    await expect.poll(async () => (await view()).lastCommit?.sha, { interval: 50 }).toBe(sha);
    const { next_at } = await app.ctx.db
      .selectFrom('project')
      .select('next_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(next_at!.getTime()).toBeGreaterThan(Date.now() + 60_000);
  });
});
