import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FakeFaultRule } from '../providers/fake/protocol.ts';
import type { Person } from '../testing/person.ts';
import { apply } from './apply.ts';
import { becomes, type CloudApp, GPU_OFFER, rentOne, seen, startCloudApp } from './cloudApp.ts';
import { claim, letGo } from './lease.ts';
import { startInstanceWorker } from './worker.ts';
import { loadStored } from './world.ts';

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

/** Makes stored times older, as if they had passed. */
async function age(instanceId: number, seconds: number): Promise<void> {
  const by = sql`interval '1 second' * ${seconds}`;
  await sql`update provider_op set created_at = created_at - ${by} where instance_id = ${instanceId}`.execute(
    app.ctx.db,
  );
  await sql`update instance set status_deadline = status_deadline - ${by}, missed_at = missed_at - ${by},
    next_at = clock_timestamp() where id = ${instanceId}`.execute(app.ctx.db);
}

const lookNow = (instanceId: number) => age(instanceId, 0);

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
    const { id } = await rentOne(alice);
    await becomes(alice, id, 'online', 14_000);
    expect(await states(id)).toEqual(['running']);
  });

  it('and has sold out since the list, the creation fails with the reason and nothing is left', async () => {
    await app.control.fault('start', { kind: 'noCapacity' });
    const { id } = await rentOne(alice, { offerId: GPU_OFFER });
    const failed = await becomes(alice, id, 'creation failed');
    expect(failed.statusReason).toBe('The cloud has no such server left at the moment');
    expect(await states(id)).toEqual([]);
    expect((await alice.client(api.instances.terminate, { id })).entity.status).toBe('terminating');
    await becomes(alice, id, 'terminated');
  });

  it('and the machine ends in error, the creation fails and the machine is removed', async () => {
    await app.control.fault('start', { kind: 'provisioningFails', detail: 'Broken disk' });
    const { id } = await rentOne(alice);
    expect((await becomes(alice, id, 'creation failed')).statusReason).toBe('Broken disk');
    await expect.poll(() => states(id), { timeout: 8_000 }).toEqual(['gone']);
    expect((await seen(alice, id)).status).toBe('creation failed');
  });

  it('and the machine is never ready, the deadline ends it and the machine is removed', async () => {
    await app.control.fault('start', { kind: 'neverReady' });
    const { id } = await rentOne(alice);
    await becomes(alice, id, 'creating');
    await age(id, 3600);
    expect((await becomes(alice, id, 'creation failed')).statusReason).toMatch(/in time/);
    await expect.poll(() => states(id), { timeout: 8_000 }).toEqual(['gone']);
  });

  it('and does not answer at all, the deadline ends it all the same', async () => {
    await app.control.fault('start', { kind: 'internal' }, null);
    await app.control.fault('look', { kind: 'internal' }, null);
    const { id } = await rentOne(alice);
    await expect
      .poll(async () => (await seen(alice, id)).statusReason, { timeout: 14_000 })
      .toBe('Something went wrong');
    await age(id, 3600);
    expect((await becomes(alice, id, 'creation failed')).statusReason).toMatch(/in time/);
  });
});

describe('when a server is terminated', () => {
  it('while the cloud is busy starting it, nothing is left', async () => {
    await app.control.fault('start', { kind: 'slow', delayMs: 1_500 });
    const { id } = await rentOne(alice);
    await expect.poll(() => states(id)).toEqual(['creating']);
    await alice.client(api.instances.terminate, { id });
    await becomes(alice, id, 'terminated');
    expect(await states(id)).toEqual(['gone']);
  });

  it('and the cloud says "done" without doing it, it is told again', async () => {
    const { id } = await rentOne(alice);
    await becomes(alice, id, 'online');
    await app.control.fault('terminate', { kind: 'falseDeleted', hiddenMs: 0 });
    await alice.client(api.instances.terminate, { id });
    await becomes(alice, id, 'terminated', 14_000);
    expect(await states(id)).toEqual(['gone']);
  });

  it('and the answer to it is lost, it is gone all the same', async () => {
    const { id } = await rentOne(alice);
    await becomes(alice, id, 'online');
    await app.control.fault('terminate', { kind: 'effectThenReset' });
    await alice.client(api.instances.terminate, { id });
    await becomes(alice, id, 'terminated');
    expect(await states(id)).toEqual(['gone']);
  });

  it('before an unanswered start shows, it is not believed gone', async () => {
    await app.control.fault('start', { kind: 'visibilityLag', lagMs: 10 * 60_000 });
    const { id } = await rentOne(alice);
    await becomes(alice, id, 'creating');
    // As after a crash between the call and its being written down.
    await sql`update provider_op set state = 'intent', params = '{}' where instance_id = ${id}`.execute(app.ctx.db);
    await sql`update instance set provider_ref = null where id = ${id}`.execute(app.ctx.db);
    await alice.client(api.instances.terminate, { id });
    const misses = async () =>
      (await app.ctx.db.selectFrom('instance').select('misses').where('id', '=', id).executeTakeFirstOrThrow()).misses;
    await expect.poll(misses).toBe(1);
    await age(id, 60);
    await expect.poll(misses).toBe(2);
    expect((await seen(alice, id)).status).toBe('terminating');
    await app.control.clock({ advanceMs: 10 * 60_000 });
    await lookNow(id);
    await becomes(alice, id, 'terminated');
    expect(await states(id)).toEqual(['gone']);
  });
});

describe('a machine that vanishes', () => {
  it('is believed gone only when it was missed twice, half a minute apart, and is old enough', async () => {
    const { id } = await rentOne(alice);
    await becomes(alice, id, 'online');
    const [machine] = await app.machinesOf(id);
    await app.control.vanish(machine!.name);
    await lookNow(id);
    const misses = async () =>
      (await app.ctx.db.selectFrom('instance').select('misses').where('id', '=', id).executeTakeFirstOrThrow()).misses;
    await expect.poll(misses).toBe(1);
    await lookNow(id);
    await age(id, 31);
    await expect.poll(misses).toBe(2);
    expect((await seen(alice, id)).status).toBe('online');
    await age(id, 120);
    expect((await becomes(alice, id, 'error')).statusReason).toBe('The cloud does not show this server any more');
    await alice.client(api.instances.terminate, { id });
    await becomes(alice, id, 'terminated');
  });

  it('is not believed gone because of one list without it', async () => {
    const { id } = await rentOne(alice);
    await becomes(alice, id, 'online');
    await age(id, 600);
    await app.control.fault('look', { kind: 'partial', omit: 'all' });
    await lookNow(id);
    await expect.poll(async () => (await app.control.report()).faults).toEqual([]);
    await age(id, 31);
    await expect
      .poll(async () => {
        const row = await app.ctx.db.selectFrom('instance').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
        return { misses: row.misses, status: row.status };
      })
      .toEqual({ misses: 0, status: 'online' });
    await alice.client(api.instances.terminate, { id });
  });

  it('by being stopped at the cloud shows so', async () => {
    const { id } = await rentOne(alice);
    await becomes(alice, id, 'online');
    const [machine] = await app.machinesOf(id);
    await app.ctx.providers.get('fake')!.stop!(machine!.ref);
    await lookNow(id);
    await expect.poll(() => states(id)).toEqual(['stopped']);
    await age(id, 6);
    expect((await becomes(alice, id, 'stopped')).statusReason).toBe('The server was stopped at its cloud');
    await alice.client(api.instances.start, { id });
    await becomes(alice, id, 'online');
    await alice.client(api.instances.terminate, { id });
  });
});

describe('several workers', () => {
  it('make one machine of each wish', async () => {
    const others = [startInstanceWorker(app.ctx), startInstanceWorker(app.ctx)];
    await app.control.fault('start', { kind: 'slow', delayMs: 50 }, 4);
    const rented = await Promise.all(Array.from({ length: 12 }, () => rentOne(alice)));
    for (const { id } of rented) await becomes(alice, id, 'online');
    for (const { id } of rented) expect(await states(id)).toEqual(['running']);
    await Promise.all(rented.map(({ id }) => alice.client(api.instances.terminate, { id })));
    for (const { id } of rented) await becomes(alice, id, 'terminated');
    const { events } = await app.control.report();
    const ids = new Set(rented.map(({ id }) => `stagi-test-${id}`));
    expect(events.filter(({ operation, name }) => operation === 'start' && ids.has(name))).toHaveLength(12);
    await Promise.all(others.map((worker) => worker.stop()));
  });

  it('change nothing once their lease is over, or the wish has changed', async () => {
    const { id } = await rentOne(alice);
    await becomes(alice, id, 'online');
    const { db } = app.ctx;
    await db.updateTable('instance').set({ provider: 'elsewhere' }).where('id', '=', id).execute();
    const due = () => sql`update instance set next_at = clock_timestamp() where id = ${id}`.execute(db);
    await due();
    await expect
      .poll(async () => (await claim(db, 'elsewhere', 1)).length, { interval: 5, timeout: 14_000 })
      .toBe(1)
      .catch(() => {});
    const lease = { id, token: (await current(id)).lock_token! };
    const stored = (await loadStored(db, id))!;
    const world = { ...stored, machine: null, traits: { readiness: 'provider' as const } };
    const stale = { ...lease, token: crypto.randomUUID() };
    const settlement = { to: 'error' as const, againMs: null };
    expect(await apply(app.ctx, stale, world, settlement)).toBe(false);
    expect(await apply(app.ctx, lease, { ...world, row: { ...world.row, gen: world.row.gen + 1 } }, settlement)).toBe(
      false,
    );
    expect(await apply(app.ctx, lease, { ...world, row: { ...world.row, status: 'creating' } }, settlement)).toBe(
      false,
    );
    expect((await current(id)).status).toBe('online');
    await letGo(db, lease, null);
  });

  const current = (id: number) =>
    app.ctx.db.selectFrom('instance').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
});

it('lets a server that always fails delay no other', async () => {
  const poisoned = await rentOne(alice);
  await becomes(alice, poisoned.id, 'online');
  await sql`update instance set status = status, desired = 'gone', next_at = clock_timestamp() where id = ${poisoned.id}`.execute(
    app.ctx.db,
  );
  const { id } = await rentOne(alice);
  await becomes(alice, id, 'online');
});
