import { api } from '@stagi/contract/api.ts';
import { type Instance, instanceCan } from '@stagi/contract/instances.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CloudApp, rentServer, startCloudApp, viewInstance, waitForStatus } from '../testing/cloudApp.ts';
import { aRentedInstance } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

let app: CloudApp;
let alice: Person;
beforeAll(async () => {
  app = await startCloudApp();
  alice = await app.signUp();
});
afterAll(() => app?.close());

async function anOnlineServer(): Promise<Instance> {
  const { id } = await rentServer(alice);
  return waitForStatus(alice, id, 'online');
}

const historyOf = async (id: number): Promise<string[]> => {
  const { entities } = await alice.client(api.instances.activities, {
    id,
    entityFilterRequest: { limit: 100, orderByDirection: 'asc' },
  });
  return entities.map(({ kind, to }) => (kind === 'status' ? to! : kind));
};

describe('a rented server', () => {
  it('stops, starts again, reboots and is terminated, with every transition in its history', async () => {
    const { id, slug } = await anOnlineServer();

    const stopping = await alice.client(api.instances.stop, { id });
    expect(stopping.entity).toMatchObject({ status: 'powering off', statusDeadline: expect.any(String) });
    await waitForStatus(alice, id, 'stopped');
    expect((await app.machinesOf(id)).map(({ state }) => state)).toEqual(['stopped']);
    expect((await alice.client(api.billing.balance, {})).burnPerHour).toBe('0.0046');

    const starting = await alice.client(api.instances.start, { slug });
    expect(starting.entity.status).toBe('powering on');
    await waitForStatus(alice, id, 'online');

    const rebooting = await alice.client(api.instances.reboot, { id });
    expect(rebooting.entity.status).toBe('rebooting');
    await waitForStatus(alice, id, 'online');
    const { events } = await app.control.report();
    expect(events.filter(({ operation, name }) => operation === 'reboot' && name.endsWith(`-${id}`))).toHaveLength(1);

    const terminating = await alice.client(api.instances.terminate, { id });
    expect(terminating.entity).toMatchObject({ status: 'terminating', statusDeadline: null });
    await waitForStatus(alice, id, 'terminated');
    expect((await app.machinesOf(id)).map(({ state }) => state)).toEqual(['gone']);
    expect(await viewInstance(alice, id)).toMatchObject({ status: 'terminated', ip: null });

    expect(await historyOf(id)).toEqual([
      'rented',
      'creating',
      'online',
      'powering off',
      'stopped',
      'powering on',
      'online',
      'rebooting',
      'online',
      'terminating',
      'terminated',
    ]);
  });

  it('shows in lists until it is terminated, then only to those who ask for it', async () => {
    const { id, slug, title } = await anOnlineServer();
    await alice.client(api.instances.terminate, { id });
    await waitForStatus(alice, id, 'terminated');
    const ids = async (statuses?: string[]) => {
      const request = { queryString: slug, statuses };
      return (await alice.client(api.instances.list, { entityFilterRequest: request })).entities.map((one) => one.id);
    };
    expect(await ids()).toEqual([]);
    expect(await ids(['online'])).toEqual([]);
    expect(await ids(['online', 'terminated'])).toEqual([id]);
    // Its Unique ID is free again, and means the new one.
    const next = await rentServer(alice, { slug, title });
    const { entity } = await alice.client(api.instances.view, { slug });
    expect(entity.id).toBe(next.id);
    await alice.client(api.instances.terminate, { id: next.id });
  });

  it('can be terminated while it is still being made', async () => {
    const { id } = await rentServer(alice);
    await alice.client(api.instances.terminate, { id });
    await waitForStatus(alice, id, 'terminated');
    expect((await app.machinesOf(id)).every(({ state }) => state === 'gone')).toBe(true);
  });

  it('keeps its address and name through an edit of its title', async () => {
    const { id } = await anOnlineServer();
    const { entity } = await alice.client(api.instances.edit, { id, title: '  Renamed  ' });
    expect(entity.title).toBe('Renamed');
    await expect(alice.client(api.instances.edit, { id, title: '' })).rejects.toThrow('Title is required');
    await alice.client(api.instances.terminate, { id });
  });
});

describe('an action that the status does not allow', () => {
  it.each([
    ['stop', 'stopped'],
    ['stop', 'creating'],
    ['start', 'online'],
    ['reboot', 'stopped'],
    ['reboot', 'terminating'],
    ['terminate', 'terminating'],
  ] as const)('is refused with its reason: %s while %s', async (action, status) => {
    const id = await aRentedInstance(app.ctx, alice, status);
    const verdict = instanceCan[action]({ status, canStop: true });
    const answer = alice.client(api.instances[action], { id });
    await expect(answer).rejects.toMatchObject({ status: 200, message: verdict.allowed ? '' : verdict.reason });
    expect((await viewInstance(alice, id)).status).toBe(status);
  });

  it.each([2 ** 31, Number.MAX_SAFE_INTEGER])('is not found on an id as large as %d', async (id) => {
    await expect(alice.client(api.instances.view, { id })).rejects.toMatchObject({ status: 404 });
    await expect(alice.client(api.instances.stop, { id })).rejects.toMatchObject({ status: 404 });
    await expect(alice.client(api.instances.edit, { id, title: 'x' })).rejects.toMatchObject({ status: 404 });
    await expect(alice.client(api.sshKeys.delete, { id })).rejects.toMatchObject({ status: 404 });
    await expect(rentServer(alice, { sshKeyId: id })).rejects.toMatchObject({ status: 400 });
  });

  it('is refused on what is terminated', async () => {
    const id = await aRentedInstance(app.ctx, alice, 'terminated');
    await expect(alice.client(api.instances.terminate, { id })).rejects.toMatchObject({ status: 200 });
  });

  it('is done once when it is requested many times at once', async () => {
    const { id } = await anOnlineServer();
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => alice.client(api.instances.stop, { id })));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await waitForStatus(alice, id, 'stopped');
    await alice.client(api.instances.terminate, { id });
  });
});

describe('the list of rented servers', () => {
  let bob: Person;
  const list = async (request: object) => {
    const answer = await bob.client(api.instances.list, { entityFilterRequest: request });
    return { ...answer, slugs: answer.entities.map(({ slug }) => slug) };
  };
  beforeAll(async () => {
    bob = await app.signUp();
    for (const [n, status] of ['online', 'stopped', 'online', 'error', 'creation failed'].entries()) {
      const id = await aRentedInstance(app.ctx, bob, status);
      await app.ctx.db
        .updateTable('instance')
        .set({ slug: `list-${n}`, title: `${5 - n}0%_done`, ip: `10.0.0.${n}`, price_per_hour: BigInt(n) })
        .where('id', '=', id)
        .execute();
    }
  });

  it('goes page by page, newest first', async () => {
    const first = await list({ limit: 2 });
    expect(first).toMatchObject({ slugs: ['list-4', 'list-3'], totalCount: 5, totalPages: 3 });
    expect((await list({ limit: 2, page: 3 })).slugs).toEqual(['list-0']);
    expect((await list({ limit: 2, page: 4 })).slugs).toEqual([]);
  });

  it.each([
    ['title', 'asc', ['list-4', 'list-3', 'list-2', 'list-1', 'list-0']],
    ['slug', 'asc', ['list-0', 'list-1', 'list-2', 'list-3', 'list-4']],
    ['pricePerHour', 'desc', ['list-4', 'list-3', 'list-2', 'list-1', 'list-0']],
    ['ip', 'asc', ['list-0', 'list-1', 'list-2', 'list-3', 'list-4']],
  ])('is sorted by %s %s', async (orderByField, orderByDirection, slugs) => {
    expect((await list({ orderByField, orderByDirection })).slugs).toEqual(slugs);
  });

  it.each(['workspaceId', 'password', 'constructor', '__proto__', 'id; drop table instance'])(
    'is not sorted by %j',
    async (orderByField) => {
      await expect(list({ orderByField })).rejects.toMatchObject({
        status: 400,
        body: { fieldsWithError: ['entityFilterRequest.orderByField'] },
      });
    },
  );

  it.each([
    ['LIST-3', ['list-3']],
    ['10.0.0.2', ['list-2']],
    ['0%_', ['list-4', 'list-3', 'list-2', 'list-1', 'list-0']],
    ['%', ['list-4', 'list-3', 'list-2', 'list-1', 'list-0']],
    ['0_d', []],
    ["' or 1=1 --", []],
    ['\\', []],
  ])('finds %j as plain text', async (queryString, slugs) => {
    const found = await list({ queryString });
    expect(found.slugs).toEqual(slugs);
    expect(found.totalCount).toBe(slugs.length);
  });

  it('filters by status', async () => {
    expect((await list({ statuses: ['online', 'error'] })).slugs).toEqual(['list-3', 'list-2', 'list-0']);
    expect((await list({ statuses: ['no such'] })).totalCount).toBe(0);
  });
});
