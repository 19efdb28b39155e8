import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { aGitUser, aHostedProject, type HostedProject, type Machine } from './testing/gitClient.ts';

let app: TestApp;
let ada: Person;
let machine: Machine;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  ({ person: ada, machine, token } = await aGitUser(app));
});
afterAll(async () => {
  machine?.remove();
  await app?.close();
});

type Way = 'https' | 'ssh';
const WAYS: Way[] = ['https', 'ssh'];
const address = (project: HostedProject, way: Way): string => (way === 'ssh' ? project.ssh : project.https(token));

let folders = 0;
const nextFolder = (): string => {
  folders += 1;
  return `folder-${folders}`;
};

/** A project with one commit, and the clone that it came from. */
async function pushed(way: Way): Promise<{ project: HostedProject; url: string; folder: string }> {
  const project = await aHostedProject(app, ada);
  const url = address(project, way);
  const folder = await machine.repository(nextFolder(), url);
  await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
  return { project, url, folder };
}

const clone = async (url: string, ...options: string[]): Promise<string> => {
  const folder = join(machine.home, nextFolder());
  await machine.ok(['clone', '-q', ...options, url, folder]);
  return folder;
};

const view = async (project: HostedProject) => (await ada.client(api.projects.view, { id: project.id })).entity;

describe.each(WAYS)('git over %s', (way) => {
  it('clones an empty project, pushes to it, and shows the push at once', async () => {
    const project = await aHostedProject(app, ada);
    const folder = await clone(address(project, way));
    await machine.ok(['checkout', '-q', '-b', 'main'], { cwd: folder });
    const sha = await machine.commit(folder, 'a.txt', 'a');
    await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
    // What git has reported is recorded: no waiting.
    const entity = await view(project);
    expect(entity).toMatchObject({ isEmpty: false, defaultBranch: 'main', lastCommit: { sha, message: 'Add a.txt' } });
    expect(entity.sizeBytes).toBeGreaterThan(0);
    const { entities } = await ada.client(api.projects.activity, { projectRef: { id: project.id } });
    expect(entities[0]).toMatchObject({
      kind: 'push',
      by: 'Ada',
      via: way,
      refs: [{ name: 'refs/heads/main', before: null, after: sha, isForced: false }],
    });
  });

  it('fetches, with branches and tags', async () => {
    const { folder, url } = await pushed(way);
    const other = await clone(url);
    const sha = await machine.commit(folder, 'b.txt', 'b');
    await machine.ok(['branch', 'topic/one'], { cwd: folder });
    await machine.ok(['tag', '-a', 'v1', '-m', 'first'], { cwd: folder });
    await machine.ok(['push', '-q', '--tags', 'origin', 'main', 'topic/one'], { cwd: folder });
    await machine.ok(['fetch', '-q', '--tags'], { cwd: other });
    expect(
      (await machine.ok(['rev-parse', 'origin/main', 'origin/topic/one', 'v1^{commit}'], { cwd: other })).split('\n'),
    ).toEqual([sha, sha, sha, '']);
    await machine.ok(['push', '-q', 'origin', ':topic/one', ':v1'], { cwd: folder });
    expect(await machine.ok(['ls-remote', 'origin'], { cwd: folder })).not.toMatch(/topic|v1/);
  });

  it.each(['0', '1', '2'])('speaks version %s of the protocol', async (version) => {
    const { url } = await pushed(way);
    const { stderr } = await machine.git(['-c', `protocol.version=${version}`, 'ls-remote', url], {
      env: { GIT_TRACE_PACKET: '1' },
    });
    expect(stderr).toMatch(version === '0' ? /< [0-9a-f]{40} HEAD\\0/ : new RegExp(`< version ${version}`));
  });

  it('makes shallow clones and deepens them', async () => {
    const { folder, url } = await pushed(way);
    for (const n of [1, 2, 3]) await machine.commit(folder, 'n.txt', String(n));
    await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
    const shallow = await clone(url, '--depth=2');
    const count = async () => Number(await machine.ok(['rev-list', '--count', 'HEAD'], { cwd: shallow }));
    expect(await count()).toBe(2);
    await machine.ok(['fetch', '-q', '--deepen=1'], { cwd: shallow });
    expect(await count()).toBe(3);
    await machine.ok(['fetch', '-q', '--unshallow'], { cwd: shallow });
    expect(await count()).toBe(4);
    // A push from a shallow clone.
    const again = await clone(url, '--depth=1');
    const sha = await machine.commit(again, 'more.txt', 'more');
    await machine.ok(['push', '-q', 'origin', 'main'], { cwd: again });
    expect(await machine.ok(['ls-remote', 'origin', 'main'], { cwd: folder })).toContain(sha);
  });

  it('makes partial clones that fetch what they miss', async () => {
    const { folder, url } = await pushed(way);
    await machine.commit(folder, 'n.txt', 'old');
    await machine.commit(folder, 'n.txt', 'new');
    await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
    const partial = await clone(url, '--filter=blob:none', '--no-checkout');
    const missing = await machine.ok(['rev-list', '--objects', '--all', '--missing=print'], { cwd: partial });
    expect(missing.match(/^\?/gm)?.length).toBe(3);
    await machine.ok(['checkout', '-q', 'main'], { cwd: partial });
    expect(await machine.ok(['show', 'HEAD~1:n.txt'], { cwd: partial })).toBe('old');
  });

  it('lets one of two pushes to one branch win, and both to two branches', async () => {
    const { folder, url, project } = await pushed(way);
    const other = await clone(url);
    const [mine, theirs] = [await machine.commit(folder, 'x', 'x'), await machine.commit(other, 'y', 'y')];
    const same = await Promise.all(
      [folder, other].map((cwd) => machine.git(['push', '-q', 'origin', 'main'], { cwd })),
    );
    expect(same.filter(({ code }) => code === 0)).toHaveLength(1);
    const winner = same[0]!.code === 0 ? mine : theirs;
    expect(await machine.ok(['ls-remote', url, 'main'])).toContain(winner);
    const two = await Promise.all(
      [folder, other].map((cwd, n) => machine.git(['push', '-q', 'origin', `HEAD:refs/heads/b${n}`], { cwd })),
    );
    expect(two.map(({ code }) => code)).toEqual([0, 0]);
    expect((await view(project)).lastCommit?.sha).toBe(winner);
    expect(await machine.ok(['--git-dir', project.dir, 'fsck', '--full', '--strict'])).toBe('');
  });

  it('refuses a forced push to main and its deletion, until the project allows them', async () => {
    const { folder, project } = await pushed(way);
    const first = await machine.commit(folder, 'a', 'a');
    await machine.ok(['push', '-q', 'origin', 'main', 'main:topic'], { cwd: folder });
    await machine.ok(['commit', '-q', '--amend', '-m', 'rewritten'], { cwd: folder });
    const forced = await machine.git(['push', '-q', '--force', 'origin', 'main'], { cwd: folder });
    expect(forced.code).toBe(1);
    expect(forced.stderr).toContain('remote: main cannot be rewritten');
    expect(await machine.ok(['ls-remote', 'origin', 'main'], { cwd: folder })).toContain(first);
    const deleted = await machine.git(['push', '-q', 'origin', ':main'], { cwd: folder });
    expect(deleted.stderr).toContain('remote: main cannot be deleted');
    // Other branches are free.
    await machine.ok(['push', '-q', '--force', 'origin', 'main:topic'], { cwd: folder });

    await sql`update project set allow_forced_push = true where id = ${project.id}`.execute(app.ctx.db);
    await machine.ok(['push', '-q', '--force', 'origin', 'main'], { cwd: folder });
    const { entities } = await ada.client(api.projects.activity, { projectRef: { id: project.id } });
    expect(entities[0]!.refs).toMatchObject([{ name: 'refs/heads/main', before: first, isForced: true }]);
    await machine.ok(['push', '-q', 'origin', ':main'], { cwd: folder });
    // The only branch that is left.
    expect((await view(project)).defaultBranch).toBe('topic');
  });

  it('writes a commit-graph after a push, and leaves no quarantine', async () => {
    const { project } = await pushed(way);
    await expect.poll(() => existsSync(join(project.dir, 'objects/info/commit-graphs'))).toBe(true);
    expect(await machine.ok(['--git-dir', project.dir, 'count-objects', '-v'])).toMatch(/^garbage: 0$/m);
  });
});
