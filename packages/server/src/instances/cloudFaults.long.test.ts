import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { announce } from '../bus/bus.ts';
import type { FakeFaultRule } from '../providers/fake/protocol.ts';
import type { Provider } from '../providers/provider.ts';
import {
  type CloudApp,
  GPU_OFFER,
  rentServer,
  startCloudApp,
  viewInstance,
  waitForStatus,
} from '../testing/cloudApp.ts';
import type { Person } from '../testing/person.ts';
import { applyTransition } from './applyTransition.ts';
import { loadSnapshot } from './snapshot.ts';
import { startInstanceWorker } from './worker.ts';

let app: CloudApp;
let alice: Person;
beforeAll(async () => {
  app = await startCloudApp();
});
afterAll(() => app?.close());
afterEach(() => app.control.clearFaults());
beforeAll(async () => {
  alice = await app.signUp();
  await app.ctx.db.updateTable('workspace').set({ plan: 'Enterprise' }).where('id', '=', alice.workspaceId).execute();
});

/** Moves stored times into the past and makes the server due, once no worker has its lease. */
async function age(instanceId: number, seconds: number): Promise<void> {
  const { db } = app.ctx;
  const by = sql`interval '1 second' * ${seconds}`;
  const older = async () => {
    const { numAffectedRows } = await sql`update instance set status_deadline = status_deadline - ${by},
      missed_at = missed_at - ${by}, next_at = clock_timestamp()
      where id = ${instanceId} and lock_token is null`.execute(db);
    return numAffectedRows;
  };
  await sql`update provider_op set created_at = created_at - ${by} where instance_id = ${instanceId}`.execute(db);
  await expect.poll(older, { interval: 5 }).toBe(1n);
  await announce(db, 'due', { kind: 'instance' });
}

const lookNow = (instanceId: number) => age(instanceId, 0);

const current = (id: number) =>
  app.ctx.db.selectFrom('instance').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

const states = async (id: number): Promise<string[]> => (await app.machinesOf(id)).map(({ state }) => state);

describe('when the cloud misbehaves at the start of a server', () => {
  it.each<[string, FakeFaultRule['fault'], number]>([
    ['does it and cuts the connection', { kind: 'effectThenReset' }, 2],
    ['does it and answers an error that names the machine', { kind: 'effectThenErrorWithId' }, 1],
    ['refuses with 429', { kind: 'rateLimited' }, 2],
    ['refuses with 500', { kind: 'internal' }, 1],
    ['does it and shows it late', { kind: 'visibilityLag', lagMs: 60_000 }, 1],
    ['answers late', { kind: 'slow', delayMs: 700 }, 1],
  ])('and %s, there is one machine and it is online', async (_, fault, times) => {
    await app.control.fault('start', fault, times);
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online');
    expect(await states(id)).toEqual(['running']);
  });

  it('and has sold out since the list, the creation fails with the reason and nothing is left', async () => {
    await app.control.fault('start', { kind: 'noCapacity' });
    const { id } = await rentServer(alice, { offerId: GPU_OFFER });
    const failed = await waitForStatus(alice, id, 'creation failed');
    expect(failed.statusReason).toBe('The cloud has no such server left at the moment');
    expect(await states(id)).toEqual([]);
    expect((await alice.client(api.instances.terminate, { id })).entity.status).toBe('terminating');
    await waitForStatus(alice, id, 'terminated');
  });

  it('and the machine ends in error, the creation fails and the machine is removed', async () => {
    await app.control.fault('start', { kind: 'provisioningFails', detail: 'Broken disk' });
    const { id } = await rentServer(alice);
    expect((await waitForStatus(alice, id, 'creation failed')).statusReason).toBe('Broken disk');
    await expect.poll(() => states(id)).toEqual(['gone']);
    expect((await viewInstance(alice, id)).status).toBe('creation failed');
  });

  it('and the machine is never ready, the deadline ends it and the machine is removed', async () => {
    await app.control.fault('start', { kind: 'neverReady' });
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'creating');
    await age(id, 3600);
    expect((await waitForStatus(alice, id, 'creation failed')).statusReason).toMatch(/in time/);
    await expect.poll(() => states(id)).toEqual(['gone']);
  });

  it('and does not answer at all, the deadline ends the creation', async () => {
    await app.control.fault('start', { kind: 'internal' }, null);
    await app.control.fault('look', { kind: 'internal' }, null);
    const { id } = await rentServer(alice);
    await expect.poll(async () => (await viewInstance(alice, id)).statusReason).toBe('Something went wrong');
    await age(id, 3600);
    expect((await waitForStatus(alice, id, 'creation failed')).statusReason).toMatch(/in time/);
  });
});

describe('when a server is terminated', () => {
  it('while the cloud is busy starting it, nothing is left', async () => {
    await app.control.fault('start', { kind: 'slow', delayMs: 1_500 });
    const { id } = await rentServer(alice);
    // It soon runs, while the answer is still on its way.
    await expect.poll(async () => (await states(id)).length).toBe(1);
    await alice.client(api.instances.terminate, { id });
    await waitForStatus(alice, id, 'terminated');
    expect(await states(id)).toEqual(['gone']);
  });

  it('and the cloud says "done" without doing it, the deletion is retried', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online');
    await app.control.fault('terminate', { kind: 'falseDeleted', hiddenMs: 0 });
    await alice.client(api.instances.terminate, { id });
    await expect.poll(async () => (await app.control.report()).faults).toEqual([]);
    await age(id, 6);
    await waitForStatus(alice, id, 'terminated');
    expect(await states(id)).toEqual(['gone']);
  });

  it('and the answer is lost, the machine is deleted all the same', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online');
    await app.control.fault('terminate', { kind: 'effectThenReset' });
    await alice.client(api.instances.terminate, { id });
    await waitForStatus(alice, id, 'terminated');
    expect(await states(id)).toEqual(['gone']);
  });

  it('before the machine of an unanswered start shows, it does not count as terminated', async () => {
    await app.control.fault('start', { kind: 'visibilityLag', lagMs: 24 * 60 * 60_000 });
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'creating');
    // As after a crash between the call and storing its result.
    await sql`update provider_op set state = 'intent', params = '{}' where instance_id = ${id}`.execute(app.ctx.db);
    await sql`update instance set provider_ref = null where id = ${id}`.execute(app.ctx.db);
    await alice.client(api.instances.terminate, { id });
    const misses = async () => (await current(id)).misses;
    await expect.poll(misses).toBe(1);
    await age(id, 60);
    await expect.poll(misses).toBe(2);
    expect((await viewInstance(alice, id)).status).toBe('terminating');
    await app.control.clock({ advanceMs: 24 * 60 * 60_000 });
    await lookNow(id);
    await waitForStatus(alice, id, 'terminated');
    expect(await states(id)).toEqual(['gone']);
  });
});

describe('a machine that vanishes', () => {
  it('counts as missing only after two looks half a minute apart, and if it is old enough', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online');
    const [machine] = await app.machinesOf(id);
    await app.control.vanish(machine!.name);
    await lookNow(id);
    const misses = async () => (await current(id)).misses;
    await expect.poll(misses).toBe(1);
    await lookNow(id);
    await age(id, 31);
    await expect.poll(misses).toBe(2);
    expect((await viewInstance(alice, id)).status).toBe('online');
    await age(id, 120);
    expect((await waitForStatus(alice, id, 'error')).statusReason).toBe('The cloud does not show this server any more');
    await alice.client(api.instances.terminate, { id });
    await waitForStatus(alice, id, 'terminated');
  });

  it('does not count as missing after one list without it', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online');
    await age(id, 600);
    await app.control.fault('look', { kind: 'partial', omit: 'all' });
    await lookNow(id);
    await expect.poll(async () => (await app.control.report()).faults).toEqual([]);
    await age(id, 31);
    await expect
      .poll(async () => {
        const { misses, status } = await current(id);
        return { misses, status };
      })
      .toEqual({ misses: 0, status: 'online' });
    await alice.client(api.instances.terminate, { id });
  });

  it('from the running ones, as it was stopped at the cloud, shows as stopped', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online');
    const [machine] = await app.machinesOf(id);
    await app.ctx.providers.get('fake')!.stop!(machine!.ref);
    await lookNow(id);
    await expect.poll(() => states(id)).toEqual(['stopped']);
    await lookNow(id);
    await expect.poll(async () => (await current(id)).misses).toBe(1);
    await age(id, 6);
    expect((await waitForStatus(alice, id, 'stopped')).statusReason).toBe('The server was stopped at its cloud');
    await alice.client(api.instances.start, { id });
    await waitForStatus(alice, id, 'online');
    await alice.client(api.instances.terminate, { id });
  });
});

describe('several workers', () => {
  it('start one machine for each instance', async () => {
    const others = [startInstanceWorker(app.ctx), startInstanceWorker(app.ctx)];
    await app.control.fault('start', { kind: 'slow', delayMs: 50 }, 4);
    const rented = await Promise.all(Array.from({ length: 12 }, () => rentServer(alice)));
    for (const { id } of rented) await waitForStatus(alice, id, 'online');
    for (const { id } of rented) expect(await states(id)).toEqual(['running']);
    await Promise.all(rented.map(({ id }) => alice.client(api.instances.terminate, { id })));
    for (const { id } of rented) await waitForStatus(alice, id, 'terminated');
    const { events } = await app.control.report();
    const ids = new Set(rented.map(({ id }) => `stagi-test-${id}`));
    expect(events.filter(({ operation, name }) => operation === 'start' && ids.has(name))).toHaveLength(12);
    await Promise.all(others.map((worker) => worker.stop()));
  });

  it('store nothing once their lease has expired, or the desired state or the status has changed', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online');
    const { db } = app.ctx;
    const lease = { id, token: crypto.randomUUID() };
    await expect
      .poll(async () => {
        const free = db.updateTable('instance').where('id', '=', id).where('lock_token', 'is', null);
        const taken = await free
          .set({ lock_token: lease.token, lock_expires_at: sql<Date>`now() + interval '1 hour'` })
          .executeTakeFirst();
        return taken.numUpdatedRows;
      })
      .toBe(1n);
    const snapshot = { ...(await loadSnapshot(db, id))!, machine: null, traits: { readiness: 'provider' as const } };
    const error = { to: 'error' as const, requeueAfterMs: null };
    const changed = (row: Partial<typeof snapshot.row>) => ({ ...snapshot, row: { ...snapshot.row, ...row } });
    expect(await applyTransition(app.ctx, { id, token: crypto.randomUUID() }, snapshot, error)).toBe(false);
    expect(await applyTransition(app.ctx, lease, changed({ gen: snapshot.row.gen - 1 }), error)).toBe(false);
    expect(await applyTransition(app.ctx, lease, changed({ status: 'creating' }), error)).toBe(false);
    expect((await current(id)).status).toBe('online');
    expect(await applyTransition(app.ctx, lease, snapshot, error)).toBe(true);
    expect((await current(id)).status).toBe('error');
    expect(await applyTransition(app.ctx, lease, snapshot, { to: 'online', requeueAfterMs: null })).toBe(false);
    await alice.client(api.instances.terminate, { id });
  });
});

it('deletes the machine that a worker, paused beyond its lease, starts for a server that is terminated by then', async () => {
  const providers = app.ctx.providers as Map<string, Provider>;
  const fake = providers.get('fake')!;
  const resumed = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const start: Provider['start'] = async (request) => {
    asked.resolve();
    await resumed.promise;
    return fake.start(request);
  };
  providers.set('paused', { ...fake, name: 'paused', start });
  const { id } = await rentServer(alice, { offerId: 'paused:sim-cpu-4' });
  await asked.promise;
  await alice.client(api.instances.terminate, { id });
  await sql`update instance set lock_expires_at = now() where id = ${id}`.execute(app.ctx.db);
  await announce(app.ctx.db, 'due', { kind: 'instance' });
  await expect.poll(async () => (await current(id)).misses).toBe(1);
  await age(id, 200);
  await waitForStatus(alice, id, 'terminated');
  expect(await states(id)).toEqual([]);
  resumed.resolve();
  await expect.poll(() => states(id)).toEqual(['gone']);
  providers.delete('paused');
});

it('says so when the cloud of a server is not configured any more', async () => {
  const { id } = await rentServer(alice);
  await waitForStatus(alice, id, 'online');
  const { db } = app.ctx;
  await db.updateTable('instance').set({ provider: 'elsewhere', attempts: 2 }).where('id', '=', id).execute();
  await alice.client(api.instances.terminate, { id });
  await db.updateTable('instance').set({ attempts: 2 }).where('id', '=', id).execute();
  await expect
    .poll(async () => (await viewInstance(alice, id)).statusReason)
    .toBe('The cloud elsewhere is not configured any more');
  await db.updateTable('instance').set({ provider: 'fake' }).where('id', '=', id).execute();
  await lookNow(id);
  await waitForStatus(alice, id, 'terminated');
});

it('keeps servers whose every step fails from delaying others, and shows the error after some attempts', async () => {
  const { db } = app.ctx;
  const poisoned = await Promise.all(Array.from({ length: 10 }, () => rentServer(alice)));
  for (const { id } of poisoned) {
    await waitForStatus(alice, id, 'online');
    // A state that cannot be reached: every step throws.
    await sql`update instance set status = 'terminating', attempts = 3, next_at = now() where id = ${id}`.execute(db);
  }
  const { id } = await rentServer(alice);
  await waitForStatus(alice, id, 'online');
  const [first] = poisoned;
  await expect.poll(async () => (await current(first!.id)).attempts).toBeGreaterThan(3);
  expect((await viewInstance(alice, first!.id)).statusReason).toMatch(/^Unexpected error/);
});
