import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { announce } from '../bus/bus.ts';
import { claimLeases, expireLeasesOfDeadWorkers } from '../reconcile/lease.ts';
import { wakeStuck } from '../reconcile/wakeStuck.ts';
import { sweepClouds } from '../strays/sweep.ts';
import { type CloudApp, rentServer, startCloudApp, viewInstance, waitForStatus } from '../testing/cloudApp.ts';
import type { Person } from '../testing/person.ts';
import { applyTransition } from './applyTransition.ts';
import { loadSnapshot } from './snapshot.ts';
import { cloudGroups, STUCK_SERVER } from './worker.ts';

/** Resource leaks seen on similar platforms: machines that are paid for and belong to no instance. */
let app: CloudApp;
let alice: Person;
beforeAll(async () => {
  app = await startCloudApp();
  alice = await app.signUp();
  await app.ctx.db.updateTable('workspace').set({ plan: 'Enterprise' }).where('id', '=', alice.workspaceId).execute();
});
afterAll(() => app?.close());
afterEach(() => app.control.clearFaults());

const PATIENCE_MS = 20_000;
/** By the simulated cloud's clock, which the test advances. */
const FOR_THE_TEST_MS = 24 * 3_600_000;
const row = (id: number) =>
  app.ctx.db.selectFrom('instance').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const states = async (id: number) => (await app.machinesOf(id)).map(({ state }) => state);

/** Takes a lease as a process does that then dies or is paused. */
async function takeLease(id: number, expires = "interval '1 hour'"): Promise<{ id: number; token: string }> {
  const token = crypto.randomUUID();
  await expect
    .poll(
      async () => {
        const { numAffectedRows } = await sql`update instance set lock_token = ${token}, next_at = null,
          lock_expires_at = clock_timestamp() + ${sql.raw(expires)} where id = ${id} and lock_token is null`.execute(
          app.ctx.db,
        );
        return numAffectedRows;
      },
      { timeout: PATIENCE_MS, interval: 5 },
    )
    .toBe(1n);
  return { id, token };
}

describe('leak: a create was sent, the process was killed, and the list lags', () => {
  it('retries with the same idempotency token, and creates no second machine', async () => {
    await app.control.fault('start', { kind: 'visibilityLag', lagMs: FOR_THE_TEST_MS });
    const { id } = await rentServer(alice);
    await expect.poll(async () => (await row(id)).status, { timeout: PATIENCE_MS }).toBe('creating');
    const lease = await takeLease(id);
    // As after a kill: the intent is stored, the cloud's answer is not.
    await sql`update provider_op set state = 'intent', params = '{}', finished_at = null where instance_id = ${id}`.execute(
      app.ctx.db,
    );
    await app.ctx.db.transaction().execute(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      await sql`update instance set status = 'in queue', provider_ref = null, lock_expires_at = now()
        where id = ${lease.id}`.execute(trx);
    });
    await announce(app.ctx.db, 'due', { kind: 'instance' });
    const starts = async () =>
      (await app.control.report()).events.filter(
        (event) => event.operation === 'start' && event.name === `stagi-test-${id}`,
      );
    await expect.poll(async () => (await starts()).length, { timeout: PATIENCE_MS }).toBeGreaterThanOrEqual(2);
    await app.control.clock({ advanceMs: FOR_THE_TEST_MS });
    await waitForStatus(alice, id, 'online', PATIENCE_MS);
    expect(await states(id)).toEqual(['running']);
    expect(await starts()).toHaveLength(2);
    await alice.client(api.instances.terminate, { id });
    await waitForStatus(alice, id, 'terminated', PATIENCE_MS);
  });
});

describe('leak: a terminate was accepted and not done', () => {
  it('retries for as long as the machine is there', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online', PATIENCE_MS);
    await app.control.fault('terminate', { kind: 'falseDeleted', hiddenMs: 0 }, null);
    await alice.client(api.instances.terminate, { id });
    const asked = async () =>
      (await app.control.report()).events.filter(
        (event) => event.operation === 'terminate' && event.name === `stagi-test-${id}`,
      ).length;
    for (const times of [1, 2]) {
      await expect.poll(asked, { timeout: PATIENCE_MS }).toBeGreaterThanOrEqual(times);
      expect(await states(id)).toEqual(['running']);
      expect((await viewInstance(alice, id)).status).toBe('terminating');
      await sql`update provider_op set created_at = created_at - interval '6 s' where instance_id = ${id}`.execute(
        app.ctx.db,
      );
    }
    await app.control.clearFaults();
    await waitForStatus(alice, id, 'terminated', PATIENCE_MS);
    expect(await states(id)).toEqual(['gone']);
  });

  it('finds an orphaned machine that was hidden until its server was closed', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online', PATIENCE_MS);
    await app.control.fault('terminate', { kind: 'falseDeleted', hiddenMs: FOR_THE_TEST_MS });
    await alice.client(api.instances.terminate, { id });
    await waitForStatus(alice, id, 'terminated', PATIENCE_MS);
    expect(await states(id)).toEqual(['running']);
    await app.control.clock({ advanceMs: FOR_THE_TEST_MS });
    await sweepClouds(app.ctx);
    await sql`update stray set first_seen_at = first_seen_at - interval '601 s' where instance_id = ${id}`.execute(
      app.ctx.db,
    );
    await sweepClouds(app.ctx);
    await expect.poll(() => states(id), { timeout: PATIENCE_MS }).toEqual(['gone']);
  });
});

describe('leak: a slow worker overwrites newer state', () => {
  it('stores nothing that it observed before the desired state changed', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online', PATIENCE_MS);
    const slow = await takeLease(id);
    const before = { ...(await loadSnapshot(app.ctx.db, id))!, traits: { readiness: 'provider' as const } };
    const old = (await app.ctx.providers.get('fake')!.getMachine(`stagi-test-${id}`))!;
    // Meanwhile its lease expires, others stop the server and start it again.
    await sql`update instance set lock_expires_at = now() where id = ${id}`.execute(app.ctx.db);
    await alice.client(api.instances.stop, { id });
    await waitForStatus(alice, id, 'stopped', PATIENCE_MS);
    const now = await row(id);
    const stale = { ...before, machine: { ...old, ref: 'an-older-machine', ip: '192.0.2.1' } };
    expect(await applyTransition(app.ctx, slow, stale, { to: 'online', requeueAfterMs: 0 })).toBe(false);
    expect(await row(id)).toMatchObject({ status: 'stopped', provider_ref: now.provider_ref, ip: now.ip });
    await alice.client(api.instances.terminate, { id });
  });

  it('stores nothing with a valid lease either, once the desired state has changed', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online', PATIENCE_MS);
    const lease = await takeLease(id);
    const before = { ...(await loadSnapshot(app.ctx.db, id))!, traits: { readiness: 'provider' as const } };
    await alice.client(api.instances.terminate, { id });
    expect(
      await applyTransition(app.ctx, lease, { ...before, machine: null }, { to: 'error', requeueAfterMs: 0 }),
    ).toBe(false);
    expect((await viewInstance(alice, id)).status).toBe('terminating');
    await sql`update instance set lock_expires_at = now() where id = ${id}`.execute(app.ctx.db);
    await announce(app.ctx.db, 'due', { kind: 'instance' });
    await waitForStatus(alice, id, 'terminated', PATIENCE_MS);
  });
});

describe('the lease of a worker', () => {
  it('expires at once when the worker is dead, and stays while it lives', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online', PATIENCE_MS);
    await takeLease(id);
    const holder = async (owner: number) => {
      await sql`update instance set lock_owner = ${owner} where id = ${id}`.execute(app.ctx.db);
      await expireLeasesOfDeadWorkers(app.ctx.db, 'instance');
      const { rows } = await sql<{ isFree: boolean }>`
        select lock_expires_at <= clock_timestamp() as "isFree" from instance where id = ${id}`.execute(app.ctx.db);
      return rows[0]!.isFree;
    };
    const { rows } = await sql<{ owner: number }>`
      select objid::bigint::int as owner from pg_locks join pg_database d on d.oid = database
      where locktype = 'advisory' and classid = 7239002::oid and datname = current_database()`.execute(app.ctx.db);
    expect(rows).toHaveLength(1);
    expect(await holder(rows[0]!.owner)).toBe(false);
    expect(await holder(1)).toBe(true);
    await alice.client(api.instances.terminate, { id });
  });

  it('is taken over by nobody while it runs, and by one of many once it has expired', async () => {
    const { id } = await rentServer(alice);
    await waitForStatus(alice, id, 'online', PATIENCE_MS);
    const { db } = app.ctx;
    const first = await takeLease(id);
    const many = async () => {
      const all = await Promise.all(
        Array.from({ length: 5 }, () =>
          claimLeases(db, 'instance', cloudGroups(['fake'])[0]!.condition, { limit: 50, leaseMs: 60_000, owner: null }),
        ),
      );
      return all.flat().filter((lease) => lease.id === id);
    };
    expect(await many()).toEqual([]);
    await sql`update instance set lock_expires_at = now() where id = ${id}`.execute(db);
    await expect.poll(async () => (await row(id)).lock_token, { timeout: PATIENCE_MS }).not.toBe(first.token);
    await alice.client(api.instances.terminate, { id });
  });
});

describe('the reaper', () => {
  it('wakes stuck servers, at most ten at a time, and leaves the others alone', async () => {
    const rented = await Promise.all(Array.from({ length: 12 }, () => rentServer(alice)));
    const ids = rented.map(({ id }) => id);
    for (const id of ids) await waitForStatus(alice, id, 'online', PATIENCE_MS);
    expect(await wakeStuck(app.ctx, 'instance', STUCK_SERVER)).toEqual([]);
    for (const id of ids) await takeLease(id);
    // In one statement, as the platform's own reaper runs once a minute.
    await sql`update instance set lock_token = null, lock_expires_at = null, next_at = null,
      status_since = now() - interval '6 minutes' where id = any(${ids}::int[])`.execute(app.ctx.db);
    const woken = [
      ...(await wakeStuck(app.ctx, 'instance', STUCK_SERVER)),
      ...(await wakeStuck(app.ctx, 'instance', STUCK_SERVER)),
    ];
    expect(woken.toSorted((a, b) => a - b)).toEqual(ids.toSorted((a, b) => a - b));
    for (const id of ids) {
      await expect.poll(async () => (await row(id)).next_at, { timeout: PATIENCE_MS }).not.toBeNull();
      await alice.client(api.instances.terminate, { id });
    }
  });
});

it('delays no other server while one of a thousand fails at every step', { timeout: 1_000_000 }, async () => {
  const COUNT = 1_000;
  const before = await stepAll(COUNT, 0);
  const withPoison = await stepAll(COUNT, 1);
  // A machine that others use too is not equally fast all the time: a bad ratio is held against the slower of two.
  const clean = withPoison < 3 * before ? before : Math.max(before, await stepAll(COUNT, 0));
  const ratio = withPoison / clean;
  console.log(
    `poison: n = ${COUNT - 1} others, p95 ${Math.round(withPoison)} ms beside 1 poison, ${Math.round(clean)} ms without, ratio ${ratio.toFixed(2)}`,
  );
  expect(ratio).toBeLessThan(3);
});

/** Makes `count` started servers due and returns the p95 of the time until they are online, in milliseconds. */
async function stepAll(count: number, poisoned: number): Promise<number> {
  const { db } = app.ctx;
  const { rows } = await sql<{ id: number }>`
    insert into instance (workspace_id, kind, slug, title, created_by, status, provider, offer, price_per_hour,
      stopped_price_per_hour, host_username, provider_ref)
    select ${alice.workspaceId}, 'rented', 'mass-' || n, 'Mass', ${alice.userId},
      'powering on', 'fake', '{"canStop": true}', 0, 0, 'root', 'none'
    from generate_series(1, ${count}::int) n returning id`.execute(db);
  const ids = rows.map(({ id }) => id);
  // Each run starts with the same number of machines in the cloud.
  await app.control.reset();
  await app.control.strays(
    ids.map((id) => ({
      name: `stagi-test-${id}`,
      offerId: 'sim-cpu-4',
      tags: { env: 'test', resource: String(id) },
    })),
  );
  await app.control.clock({ advanceMs: 60_000 });
  // A state that cannot be reached: every step of these throws.
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`update instance set status = 'terminating' where id = any(${ids.slice(0, poisoned)}::int[])`.execute(trx);
  });
  const others = ids.slice(poisoned);
  const since = (
    await sql<{ now: Date }>`update instance set next_at = clock_timestamp()
    where id = any(${ids}::int[]) returning clock_timestamp() as now`.execute(db)
  ).rows[0]!.now;
  await announce(db, 'due', { kind: 'instance' });
  const figures = async () => {
    const { rows: took } = await sql<{ n: number; p95: number }>`
      select count(*)::int as n, (percentile_cont(0.95) within group (
        order by extract(epoch from status_since - ${since}::timestamptz)) * 1000)::float8 as p95
      from instance where id = any(${others}::int[]) and status = 'online'`.execute(db);
    return took[0]!;
  };
  await expect
    .poll(async () => (await figures()).n, { timeout: 200_000, interval: 200 })
    .toBe(others.length)
    .catch(async (cause: unknown) => {
      const left =
        await sql`select id, status, status_reason, next_at, lock_token, lock_expires_at, attempts, last_error, now()
        from instance where id = any(${others}::int[]) and status <> 'online' limit 3`.execute(db);
      throw new Error(`not online: ${JSON.stringify(left.rows)}`, { cause });
    });
  const { p95 } = await figures();
  // Clean up.
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`update instance set status = 'terminated', closed_at = now(), next_at = null
      where id = any(${ids}::int[])`.execute(trx);
  });
  return p95;
}
