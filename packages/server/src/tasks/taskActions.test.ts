import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aMember } from '../app/testing/seededWorkspace.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { aPlacedRun, aTask } from '../testing/taskFactories.ts';
import { openTaskEnv } from './env.ts';
import { transitionTask } from './status.ts';
import { aTaskPlace, aTaskServer, attach, type TaskPlace } from './testing/taskPlace.ts';

let app: TestApp;
let alice: Person;
let place: TaskPlace;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api,s3' });
  alice = await app.signUp('Alice');
  place = await aTaskPlace(app, alice);
  await app.ctx.db.updateTable('workspace').set({ plan: 'Enterprise' }).where('id', '=', alice.workspaceId).execute();
});
afterAll(() => app?.close());

const view = async (id: number) => (await alice.client(api.tasks.view, { id })).entity;
const cancel = async (id: number) => (await alice.client(api.tasks.cancel, { id })).entity;
/** As its worker does. */
const fail = (id: number) => app.ctx.db.transaction().execute((trx) => transitionTask(app.ctx, trx, id, 'failed'));
const envOf = async (id: number) =>
  openTaskEnv(app.ctx, await app.ctx.db.selectFrom('task').selectAll().where('id', '=', id).executeTakeFirstOrThrow());

describe('canceling a task', () => {
  it('ends one that has no place at once', async () => {
    const { id } = await place.create(alice);
    const task = await cancel(id);
    expect(task).toMatchObject({ status: 'canceled', position: null, runs: [{ number: 1, container: null }] });
    expect(task.finishedAt).not.toBeNull();
    expect(task.timeline).toMatchObject([
      { status: 'new', by: 'Alice' },
      { status: 'canceled', by: 'Alice' },
    ]);
    await expect(cancel(id)).rejects.toMatchObject({ status: 200, message: 'This task has already ended' });
  });

  it('leaves one that has a place to its worker', async () => {
    const { taskId } = await aPlacedRun(app.ctx, alice);
    expect((await cancel(taskId)).status).toBe('canceling');
    await expect(cancel(taskId)).rejects.toMatchObject({ message: 'This task is already being canceled' });
  });
});

describe('running a task again', () => {
  it('makes a new one with the same fields, variables and commit', async () => {
    const first = await place.create(alice, {
      commit: 'topic/x',
      env: [{ name: 'SECRET', value: 's3cr3t' }],
      title: 'Mine',
      priority: 'low',
      retries: 1,
    });
    await expect(alice.client(api.tasks.rerun, { id: first.id })).rejects.toMatchObject({
      status: 200,
      message: 'This task has not ended yet',
    });
    await fail(first.id);
    const { entity: again } = await alice.client(api.tasks.rerun, { id: first.id });
    expect(again).toMatchObject({
      ordinal: first.ordinal + 1,
      slug: `task-${again.id}`,
      status: 'new',
      title: 'Mine',
      commit: { sha: place.project.shas[2], ref: 'topic/x' },
      envNames: ['SECRET'],
      priority: 'low',
      retries: 1,
    });
    expect(await envOf(again.id)).toEqual([{ name: 'SECRET', value: 's3cr3t' }]);
  });

  it('is refused when its commit is gone, or its server was detached', async () => {
    const lost = await aTask(app.ctx, alice, 'failed', { project_id: place.project.id });
    await expect(alice.client(api.tasks.rerun, { id: lost })).rejects.toMatchObject({
      status: 200,
      message: 'The commit of this task no longer exists',
    });
    const server = await aTaskServer(app, alice);
    await attach(alice, place.project.id, server);
    const { id } = await place.create(alice, { instanceRef: { id: server } });
    await cancel(id);
    await alice.client(api.projects.detachInstance, {
      projectRef: { id: place.project.id },
      instanceRef: { id: server },
    });
    await expect(alice.client(api.tasks.rerun, { id })).rejects.toMatchObject({
      message: 'This server is not attached to the project',
    });
  });
});

describe('cloning a task', () => {
  it('keeps variables without a value, and changes the others', async () => {
    const first = await place.create(alice, {
      env: [
        { name: 'KEEP', value: 'kept' },
        { name: 'CHANGE', value: 'old' },
      ],
    });
    const clone = await place.create(alice, {
      cloneOf: { id: first.id },
      env: [{ name: 'KEEP' }, { name: 'CHANGE', value: 'new' }],
    });
    expect(await envOf(clone.id)).toEqual([
      { name: 'KEEP', value: 'kept' },
      { name: 'CHANGE', value: 'new' },
    ]);
    await expect(place.create(alice, { cloneOf: { id: first.id }, env: [{ name: 'OTHER' }] })).rejects.toMatchObject({
      body: { message: 'Value is required', fieldsWithError: ['env.0.value'] },
    });
  });

  it('asks for every variable again on another server', async () => {
    const first = await place.create(alice, { env: [{ name: 'KEEP', value: 'kept' }] });
    const elsewhere = { id: await aTaskServer(app, alice, { kind: 'self-hosted' }) };
    await attach(alice, place.project.id, elsewhere.id);
    const more = { cloneOf: { id: first.id }, instanceRef: elsewhere };
    await expect(place.create(alice, { ...more, env: [{ name: 'KEEP' }] })).rejects.toMatchObject({
      body: {
        message: 'This secret was entered for another server: enter it again for this one',
        fieldsWithError: ['env.0.value'],
      },
    });
    const clone = await place.create(alice, { ...more, env: [{ name: 'KEEP', value: 'again' }] });
    expect(await envOf(clone.id)).toEqual([{ name: 'KEEP', value: 'again' }]);
  });

  it('gives nobody the variables of another workspace', async () => {
    const { id } = await place.create(alice, { env: [{ name: 'KEEP', value: 'kept' }] });
    const bob = await app.signUp('Bob');
    const his = await aTaskPlace(app, bob);
    await expect(his.create(bob, { cloneOf: { id }, env: [{ name: 'KEEP' }] })).rejects.toMatchObject({ status: 404 });
  });
});

describe('favourites', () => {
  it('are of one person alone', async () => {
    const dora = await app.signUp('Dora');
    await aMember(app, dora, alice.workspaceId, 'Developer');
    dora.useWorkspace(alice.workspaceId);
    const { id } = await place.create(alice);
    await alice.client(api.tasks.favorite, { id, favorite: true });
    await alice.client(api.tasks.favorite, { id, favorite: true });
    const mine = async (by: Person) =>
      (await by.client(api.tasks.list, { favorites: true })).entities.map((task) => task.id);
    expect([await mine(alice), await mine(dora)]).toEqual([[id], []]);
    expect((await view(id)).favorite).toBe(true);
    expect((await dora.client(api.tasks.view, { id })).entity.favorite).toBe(false);
    await alice.client(api.tasks.favorite, { id, favorite: false });
    expect(await mine(alice)).toEqual([]);
  });
});

describe('the list of tasks', () => {
  it('is filtered, searched, sorted and paged', async () => {
    const erin = await app.signUp('Erin');
    const hers = await aTaskPlace(app, erin);
    const other = await aTaskPlace(app, erin);
    const [a, b, c] = [
      await hers.create(erin, { title: 'Alpha', command: 'echo 100 % whales' }),
      await hers.create(erin, { title: 'Beta', commit: 'topic/x', slug: 'the-second' }),
      await other.create(erin, { title: 'Gamma' }),
    ];
    await erin.client(api.tasks.cancel, { id: b.id });
    const list = async (request: object = {}, more: object = {}) => {
      const { entities, totalCount } = await erin.client(api.tasks.list, { ...more, entityFilterRequest: request });
      return { titles: entities.map(({ title }) => title), totalCount };
    };
    expect(await list()).toEqual({ titles: ['Gamma', 'Beta', 'Alpha'], totalCount: 3 });
    expect(await list({}, { projectRef: { id: hers.project.id } })).toEqual({
      titles: ['Beta', 'Alpha'],
      totalCount: 2,
    });
    expect(await list({}, { instanceRef: { id: other.instance } })).toEqual({ titles: ['Gamma'], totalCount: 1 });
    expect(await list({ statuses: ['canceled'] })).toEqual({ titles: ['Beta'], totalCount: 1 });
    expect(await list({ queryString: '0 % WHALES' })).toEqual({ titles: ['Alpha'], totalCount: 1 });
    expect(await list({ queryString: 'on a branch' })).toEqual({ titles: ['Beta'], totalCount: 1 });
    expect(await list({ queryString: 'the-second' })).toEqual({ titles: ['Beta'], totalCount: 1 });
    expect(await list({ orderByField: 'title', orderByDirection: 'asc', limit: 2 })).toEqual({
      titles: ['Alpha', 'Beta'],
      totalCount: 3,
    });
    for (const orderByField of ['createdAt', 'status', 'ordinal', 'cost', 'startedAt', 'finishedAt', 'title'])
      expect.soft((await list({ orderByField })).totalCount, orderByField).toBe(3);
    await expect(list({ orderByField: 'command' })).rejects.toMatchObject({ status: 400 });
    // Each queue counts for itself.
    expect((await erin.client(api.tasks.list, {})).entities.map(({ id, position }) => [id, position])).toEqual([
      [c.id, 1],
      [b.id, null],
      [a.id, 1],
    ]);
  });

  it('numbers a queue by priority, then by age', async () => {
    const fay = await app.signUp('Fay');
    const hers = await aTaskPlace(app, fay);
    const made = [
      await hers.create(fay),
      await hers.create(fay, { priority: 'low' }),
      await hers.create(fay, { priority: 'high' }),
      await hers.create(fay),
    ];
    const positions = await Promise.all(
      made.map(async ({ id }) => (await fay.client(api.tasks.view, { id })).entity.position),
    );
    expect(positions).toEqual([2, 4, 1, 3]);
  });

  it('leaves out tasks of deleted projects', async () => {
    const gail = await app.signUp('Gail');
    const hers = await aTaskPlace(app, gail);
    await hers.create(gail);
    await app.ctx.db
      .updateTable('project')
      .set({ status: 'deleting', closed_at: sql<Date>`now()` })
      .where('id', '=', hers.project.id)
      .execute();
    expect((await gail.client(api.tasks.list, {})).totalCount).toBe(0);
  });
});

describe('the form of tasks', () => {
  it('offers what a task can have, with the values of the last one', async () => {
    const hana = await app.signUp('Hana');
    const empty = await hana.client(api.tasks.form, {});
    expect(empty).toMatchObject({
      projects: [],
      projectId: null,
      instances: [],
      storages: [],
      values: null,
      valuesOf: null,
    });
    expect(empty.runsToday).toEqual({ used: 0, limit: 50 });
    const hers = await aTaskPlace(app, hana);
    const own = await aTaskServer(app, hana, { kind: 'self-hosted', features: [] });
    await attach(hana, hers.project.id, own);
    await app.ctx.db.updateTable('project').set({ status: 'active' }).where('id', '=', hers.project.id).execute();
    const task = await hers.create(hana, { cpus: 2, command: 'make', env: [{ name: 'A', value: '1' }] });
    const form = await hana.client(api.tasks.form, {});
    expect(form).toMatchObject({
      projectId: hers.project.id,
      projects: [{ id: hers.project.id, defaultBranch: 'main' }],
      storages: [{ id: hers.storage, readOnly: false }],
      values: { command: 'make', cpus: 2, commit: 'main', envNames: ['A'] },
      valuesOf: { id: task.id, ordinal: 1 },
      runsToday: { used: 1, limit: 50 },
    });
    expect(form.instances.find(({ id }) => id === hers.instance)).toMatchObject({
      kind: 'rented',
      cpus: 4,
      freeCpus: 4,
      freeGpus: 2,
      gpus: [{ index: 0 }, { index: 1 }],
      waiting: 1,
      pricePerHour: { STAGI: { decimalValue: '0.07' } },
      refusal: null,
    });
    expect(form.instances.find(({ id }) => id === own)).toMatchObject({
      kind: 'self-hosted',
      pricePerHour: { STAGI: { decimalValue: '0.00' } },
      refusal: 'The agent of this server is too old to run tasks',
    });
    const clone = await hana.client(api.tasks.form, { cloneOf: { id: task.id } });
    expect(clone.values).toMatchObject({ command: 'make', commit: hers.project.shas[1] });
    await expect(hana.client(api.tasks.form, { projectRef: { id: place.project.id } })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('counts what containers hold of a server', async () => {
    const { taskId } = await aPlacedRun(app.ctx, alice, { instance_id: place.instance, project_id: place.project.id });
    expect(taskId).toBeGreaterThan(0);
    await app.ctx.db
      .updateTable('container')
      .set({ cpus: 2.5, gpu_ids: [1] })
      .where('instance_id', '=', place.instance)
      .execute();
    await app.ctx.db.updateTable('project').set({ status: 'active' }).where('id', '=', place.project.id).execute();
    const { instances } = await alice.client(api.tasks.form, { projectRef: { id: place.project.id } });
    expect(instances.find(({ id }) => id === place.instance)).toMatchObject({ freeCpus: 1.5, freeGpus: 1 });
  });
});

describe('what a run has cost', () => {
  it('is its server’s price for the time since its start, and what earlier runs took', async () => {
    const { taskId, runId } = await aPlacedRun(app.ctx, alice);
    await sql`update task_run set price_micro_per_hour = 2000000, started_at = now() - interval '2 hours',
      finished_at = now() - interval '90 minutes' where id = ${runId}`.execute(app.ctx.db);
    await sql`update task set cost_micro = 250000 where id = ${taskId}`.execute(app.ctx.db);
    const task = await view(taskId);
    expect(task.cost.STAGI.decimalValue).toBe('1.25');
    expect(task.runs[0]!.cost.STAGI.decimalValue).toBe('1.00');
  });
});
