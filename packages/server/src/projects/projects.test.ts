import { access } from 'node:fs/promises';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aMember } from '../app/testing/seededWorkspace.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken, aProject } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { repositoryPath } from './gitAccess.ts';

let app: TestApp;
let alice: Person;
let n = 0;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  alice = await app.signUp();
});

const input = (over: object = {}) => {
  n += 1;
  return { title: 'Vision', slug: `vision-${n}`, ...over };
};
const create = async (person: Person, over: object = {}) =>
  (await person.client(api.projects.create, input(over))).entity;
const view = async (id: number) => (await alice.client(api.projects.view, { id })).entity;

async function active(over: object = {}) {
  const { id } = await create(alice, over);
  await expect.poll(async () => (await view(id)).status, { interval: 25 }).toBe('active');
  return view(id);
}

describe('creating a project', () => {
  it('answers at once, and its repository is there within a moment', async () => {
    const made = await create(alice, { title: 'Vision', description: 'Sees things' });
    expect(made).toMatchObject({
      title: 'Vision',
      description: 'Sees things',
      defaultBranch: 'main',
      isEmpty: true,
      lastCommit: null,
      taskCount: 0,
      instanceCount: 0,
      containerCount: 0,
      sizeBytes: 0,
      archivedAt: null,
      allowForcedPush: false,
      canPush: true,
      import: null,
      gitHttps: `${app.ctx.config.appOrigin}/git/${alice.workspaceId}/${made.slug}.git`,
      gitSsh: `ssh://git@localhost:${app.ctx.config.gitSshPort}/${alice.workspaceId}/${made.slug}.git`,
    });
    await expect.poll(async () => (await view(made.id)).status, { interval: 25 }).toBe('active');
    await access(await repositoryPath(app.ctx, made.id));
    expect((await alice.client(api.projects.view, { slug: made.slug })).entity.id).toBe(made.id);
  });

  it('has its repository as soon as somebody needs it, whether or not the worker was faster', async () => {
    const { id } = await create(alice);
    await access(await repositoryPath(app.ctx, id));
  });

  it.each([
    [{ title: ' ' }, 'title', 'Title is required'],
    [{ title: 'x'.repeat(101) }, 'title', 'Title is too long: at most 100 characters'],
    [{ slug: '' }, 'slug', 'Unique ID is required'],
    [{ slug: 'ab' }, 'slug', 'Unique ID must be at least 3 characters'],
    [{ slug: 'a/../b' }, 'slug', 'Unique ID may contain only letters, digits and single hyphens between them'],
    [{ slug: 'repo.git' }, 'slug', 'Unique ID may contain only letters, digits and single hyphens between them'],
    [{ description: 'x'.repeat(1_001) }, 'description', 'Description is too long: at most 1,000 characters'],
    [{ importUrl: 'http://git.example/a.git' }, 'importUrl', 'Enter an address that begins with https://'],
    [{ importUrl: 'ext::sh -c id' }, 'importUrl', 'Enter an address that begins with https://'],
    [{ importUrl: '--upload-pack=id' }, 'importUrl', 'Enter an address that begins with https://'],
    [
      { importUrl: 'https://ada:secret@git.example/a.git' },
      'importUrl',
      'The address must not contain a user name or a password',
    ],
    [{ importUrl: 'https://git.example/a.git?token=x' }, 'importUrl', 'The address must not contain "?" or "#"'],
  ])('refuses %j at its field', async (over, field, message) => {
    await expect(create(alice, over)).rejects.toMatchObject({
      status: 400,
      body: { message, fieldsWithError: [field] },
    });
    expect((await alice.client(api.projects.list, {})).totalCount).toBe(0);
  });

  it('refuses a Unique ID of its workspace, also to one of two at once; another workspace may have it', async () => {
    const slug = input().slug;
    const answers = await Promise.allSettled([create(alice, { slug }), create(alice, { slug })]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await expect(create(alice, { slug })).rejects.toMatchObject({
      body: { message: 'This Unique ID is taken', fieldsWithError: ['slug'] },
    });
    const bob = await app.signUp();
    expect((await create(bob, { slug })).slug).toBe(slug);
  });
});

describe('the list of projects', () => {
  it('is sorted, searched in title, Unique ID and description, filtered and paged', async () => {
    const [, b, c] = [
      await active({ title: 'Alpha' }),
      await active({ title: 'Beta', description: 'about 100 % of whales' }),
      await active({ title: 'Gamma' }),
    ];
    await alice.client(api.projects.archive, { id: c.id });
    const list = async (request: object) => {
      const { entities, totalCount } = await alice.client(api.projects.list, { entityFilterRequest: request });
      return { titles: entities.map(({ title }) => title), totalCount };
    };
    expect(await list({})).toEqual({ titles: ['Gamma', 'Beta', 'Alpha'], totalCount: 3 });
    expect(await list({ orderByField: 'title', orderByDirection: 'asc', limit: 2 })).toEqual({
      titles: ['Alpha', 'Beta'],
      totalCount: 3,
    });
    expect(await list({ queryString: 'WHALES' })).toEqual({ titles: ['Beta'], totalCount: 1 });
    expect(await list({ queryString: '0 %' })).toEqual({ titles: ['Beta'], totalCount: 1 });
    expect(await list({ queryString: b.slug })).toEqual({ titles: ['Beta'], totalCount: 1 });
    expect(await list({ statuses: ['archived'] })).toEqual({ titles: ['Gamma'], totalCount: 1 });
    await expect(list({ orderByField: 'password' })).rejects.toMatchObject({ status: 400 });
  });

  it('is for members who may see projects; only those who manage them change anything', async () => {
    const project = await active();
    const developer = await app.signUp();
    await aMember(app, developer, alice.workspaceId, 'Developer');
    const reader = (await anApiToken(app.ctx, developer, { permissions: ['PROJECT'] })).token;
    await app.ctx.db.updateTable('api_token').set({ workspace_id: alice.workspaceId }).execute();
    const guest = await app.signUp();
    await aMember(app, guest, alice.workspaceId, 'Guest');
    guest.useWorkspace(alice.workspaceId);
    const asReader = { authorization: `Bearer ${reader}`, 'x-client-id': String(alice.workspaceId) };
    expect(await app.post('project/view', { id: project.id }, asReader)).toMatchObject({
      status: 200,
      body: { entity: { id: project.id, canPush: false } },
    });
    for (const [path, body] of [
      ['project/edit', { id: project.id, title: 'x' }],
      ['project/archive', { id: project.id }],
      ['project/delete', { id: project.id, slugTyped: project.slug }],
    ] as const)
      expect.soft(await app.post(path, body, asReader), path).toMatchObject({ status: 403 });
    for (const look of [
      () => guest.client(api.projects.list, {}),
      () => guest.client(api.projects.view, { id: project.id }),
    ])
      await expect(look()).rejects.toMatchObject({ status: 403 });
    const stranger = await app.signUp();
    await expect(stranger.client(api.projects.view, { id: project.id })).rejects.toMatchObject({ status: 404 });
    expect((await view(project.id)).title).toBe(project.title);
  });
});

describe('the settings of a project', () => {
  it('change title, description and whether forced pushes are accepted', async () => {
    const { id } = await active();
    const { entity } = await alice.client(api.projects.edit, {
      id,
      title: 'Renamed',
      description: '',
      allowForcedPush: true,
    });
    expect(entity).toMatchObject({ title: 'Renamed', description: '', allowForcedPush: true });
    const { entities } = await alice.client(api.audit.list, { entityFilterRequest: { queryString: 'project/edit' } });
    expect(entities[0]).toMatchObject({
      action: 'project/edit',
      object: { type: 'project', label: entity.slug },
      detail: { title: 'Renamed', allowForcedPush: true },
    });
  });

  it('refuse a default branch that does not exist', async () => {
    const { id } = await active();
    for (const defaultBranch of ['nowhere', '--output=x', '../main', 'ma*'])
      await expect(alice.client(api.projects.edit, { id, defaultBranch })).rejects.toMatchObject({
        status: 400,
        body: { message: 'This branch does not exist', fieldsWithError: ['defaultBranch'] },
      });
    expect((await view(id)).defaultBranch).toBe('main');
  });

  it('archive a project, which can then only be read, and end that', async () => {
    const { id } = await active();
    const { entity } = await alice.client(api.projects.archive, { id });
    expect(entity).toMatchObject({ status: 'archived', archivedAt: expect.any(String), canPush: false });
    for (const change of [
      () => alice.client(api.projects.edit, { id, title: 'x' }),
      () => alice.client(api.projects.import, { id, url: 'https://git.example/a.git' }),
    ])
      await expect(change()).rejects.toMatchObject({
        body: { isSuccess: false, message: 'This project is archived: it can only be read' },
      });
    await expect(alice.client(api.projects.archive, { id })).rejects.toMatchObject({
      body: { isSuccess: false, message: 'This project is already archived' },
    });
    expect((await alice.client(api.projects.unarchive, { id })).entity).toMatchObject({
      status: 'active',
      archivedAt: null,
      canPush: true,
    });
    const { entities } = await alice.client(api.projects.activity, { projectRef: { id } });
    expect(entities.map(({ kind, by }) => [kind, by !== null])).toEqual([
      ['unarchived', true],
      ['archived', true],
      ['created', true],
    ]);
  });
});

describe('the size of repositories', () => {
  it('counts to the plan together with storages, over all Free workspaces of a person', async () => {
    const id = await aProject(app.ctx, alice);
    await sql`update project set size_bytes = 45500000000 where id = ${id}`.execute(app.ctx.db);
    expect(await alice.client(api.projects.form, {})).toMatchObject({ planGb: 50, usedGb: 45.5 });
    expect(await alice.client(api.storages.form, {})).toMatchObject({ planGb: 50, usedGb: 45.5 });
    const storage = { title: 'Data', slug: `data-${alice.workspaceId}`, sizeGb: 5, location: 'local' };
    await expect(alice.client(api.storages.create, storage)).rejects.toMatchObject({
      body: { message: 'Your plan allows 50 GB of storage in total; 45.5 GB are taken', fieldsWithError: ['sizeGb'] },
    });
    await alice.client(api.storages.create, { ...storage, sizeGb: 4 });
    const { entity } = await alice.client(api.clients.create, { name: 'Second' });
    alice.useWorkspace(entity.clientId);
    expect(await alice.client(api.projects.form, {})).toMatchObject({ usedGb: 49.5 });
  });
});
