import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { announce } from '../bus/bus.ts';
import type { Provider } from '../providers/provider.ts';
import { becomes, type CloudApp, rentOne, seen, startCloudApp } from '../testing/cloudApp.ts';
import { anOwnServer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { findSilent } from './liveness.ts';
import { daemonBeats, daemonGone, daemonHello, databaseNow } from './readiness.ts';

let app: CloudApp;
let alice: Person;
beforeAll(async () => {
  app = await startCloudApp();
  alice = await app.signUp();
  await app.ctx.db.updateTable('workspace').set({ plan: 'Enterprise' }).where('id', '=', alice.workspaceId).execute();
  const fake = app.ctx.providers.get('fake')!;
  // The same simulated cloud, but ready only when a daemon says so.
  const withDaemons: Provider = { ...fake, name: 'daemons', traits: { ...fake.traits, readiness: 'daemon' } };
  (app.ctx.providers as Map<string, Provider>).set(withDaemons.name, withDaemons);
});
afterAll(() => app?.close());

/** What the link stores when a daemon connects, then tells. */
async function connects(id: number): Promise<void> {
  await app.ctx.db
    .updateTable('daemon_node')
    .set({
      version: '1.0.0',
      connected_at: sql<Date>`clock_timestamp()`,
      disconnected_at: null,
      last_seen_at: sql<Date>`clock_timestamp()`,
    })
    .where('instance_id', '=', id)
    .execute();
  await daemonHello(app.ctx, id);
}

async function beats(id: number): Promise<void> {
  await app.ctx.db
    .updateTable('daemon_node')
    .set({ last_seen_at: sql<Date>`clock_timestamp()` })
    .where('instance_id', '=', id)
    .execute();
  await daemonBeats(app.ctx, [id]);
}

async function lastSeen(id: number, secondsAgo: number): Promise<void> {
  await sql`update daemon_node set last_seen_at = now() - interval '1 second' * ${secondsAgo} where instance_id = ${id}`.execute(
    app.ctx.db,
  );
}

const aLongTimeAgo = new Date(0);

describe('a rented server with a daemon', () => {
  const offerId = 'daemons:sim-cpu-4';

  it('is online when its cloud shows it running and its daemon has come, whichever is first', async () => {
    const { id } = await rentOne(alice, { offerId });
    await expect
      .poll(async () => (await seen(alice, id)).progress.filter(({ at }) => at !== null).map(({ step }) => step))
      .toEqual(['capacity', 'booting']);
    expect((await seen(alice, id)).status).toBe('creating');
    await connects(id);
    const online = await becomes(alice, id, 'online');
    expect(online.progress.every(({ at }) => at !== null)).toBe(true);
    expect(online.daemonSeenAt).not.toBeNull();
  });

  it('gets one enrolment in its boot script, which is kept sealed and only until it was handed over', async () => {
    await app.control.fault('start', { kind: 'internal' }, 1);
    const { id } = await rentOne(alice, { offerId });
    const paramsOf = async () => {
      const op = await app.ctx.db
        .selectFrom('provider_op')
        .selectAll()
        .where('instance_id', '=', id)
        .executeTakeFirst();
      return op?.params ?? {};
    };
    await expect.poll(async () => (await paramsOf()).userData).toMatch(/^v1\./);
    await becomes(alice, id, 'creating');
    expect(await paramsOf()).toEqual({ ref: expect.any(String) });
    const [machine] = await app.machinesOf(id);
    expect(machine!.userData).toMatch(/^#!\/bin\/sh[\s\S]*daemon-token\.jwt/);
    const { enrol_jti } = await nodeOf(id);
    const token = /'(eyJ[\w.-]+)'/.exec(machine!.userData)![1]!;
    expect(JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())).toMatchObject({ jti: enrol_jti });
  });

  it('is back from a reboot only with a new connection', async () => {
    const { id } = await rentOne(alice, { offerId });
    await becomes(alice, id, 'creating');
    await connects(id);
    await becomes(alice, id, 'online');
    await alice.client(api.instances.reboot, { id });
    await expect.poll(async () => (await rowOf(id)).reboot_done).toBe(1);
    await beats(id);
    await wake();
    expect((await seen(alice, id)).status).toBe('rebooting');
    await connects(id);
    await becomes(alice, id, 'online');
  });

  it('is unresponsive, not lost, when it does not come back in time', async () => {
    const { id } = await rentOne(alice, { offerId });
    await becomes(alice, id, 'creating');
    await connects(id);
    await becomes(alice, id, 'online');
    await alice.client(api.instances.stop, { id });
    await becomes(alice, id, 'stopped');
    await alice.client(api.instances.start, { id });
    await expect.poll(async () => (await rowOf(id)).machine_state).toBe('running');
    expect((await seen(alice, id)).status).toBe('powering on');
    await sql`update instance set status_deadline = now(), next_at = now() where id = ${id}`.execute(app.ctx.db);
    await wake();
    expect((await becomes(alice, id, 'unresponsive')).statusReason).toBe('Its daemon did not come back in time');
    await connects(id);
    expect(await seen(alice, id)).toMatchObject({ status: 'online', statusReason: null });
  });

  it('loses its daemon’s key when it is terminated', async () => {
    const { id } = await rentOne(alice, { offerId });
    await becomes(alice, id, 'creating');
    await alice.client(api.instances.terminate, { id });
    await becomes(alice, id, 'terminated');
    expect((await nodeOf(id)).revoked_at).not.toBeNull();
    await connects(id);
    expect((await seen(alice, id)).status).toBe('terminated');
  });

  it('is unresponsive after 40 s of silence and never offline', async () => {
    const { id } = await rentOne(alice, { offerId });
    await becomes(alice, id, 'creating');
    await connects(id);
    await becomes(alice, id, 'online');
    await lastSeen(id, 41);
    await findSilent(app.ctx, aLongTimeAgo);
    expect((await seen(alice, id)).status).toBe('unresponsive');
    await lastSeen(id, 4000);
    await findSilent(app.ctx, aLongTimeAgo);
    expect((await seen(alice, id)).status).toBe('unresponsive');
    await beats(id);
    expect((await seen(alice, id)).status).toBe('online');
  });
});

describe('an own server', () => {
  const view = async (id: number) => (await alice.client(api.selfHosted.view, { id })).entity;

  it('comes online with its daemon, is unresponsive after 40 s of silence and offline after five minutes', async () => {
    const id = await anOwnServer(app.ctx, alice, 'awaiting setup');
    await connects(id);
    expect(await view(id)).toMatchObject({ status: 'online', statusReason: null });

    await lastSeen(id, 39);
    await findSilent(app.ctx, aLongTimeAgo);
    expect((await view(id)).status).toBe('online');

    await lastSeen(id, 41);
    await findSilent(app.ctx, aLongTimeAgo);
    const silent = await view(id);
    expect(silent).toMatchObject({ status: 'unresponsive', statusReason: 'No word from its daemon for 40 seconds' });
    expect(silent.statusSeenAt).toBe(silent.daemonSeenAt);

    await lastSeen(id, 299);
    await findSilent(app.ctx, aLongTimeAgo);
    expect((await view(id)).status).toBe('unresponsive');
    await lastSeen(id, 301);
    await findSilent(app.ctx, aLongTimeAgo);
    expect(await view(id)).toMatchObject({ status: 'offline', statusReason: 'No word from its daemon for 5 minutes' });

    await beats(id);
    expect(await view(id)).toMatchObject({ status: 'online', statusReason: null });
    const { entities } = await alice.client(api.selfHosted.activities, { id });
    expect(entities.map(({ to }) => to)).toEqual(['online', 'offline', 'unresponsive', 'online']);
  });

  it('is not blamed for the time in which the platform was down', async () => {
    const id = await anOwnServer(app.ctx, alice, 'awaiting setup');
    await connects(id);
    await lastSeen(id, 4000);
    await findSilent(app.ctx, await databaseNow(app.ctx.db));
    expect((await view(id)).status).toBe('online');
  });

  it('stays online when its link breaks for a moment', async () => {
    const id = await anOwnServer(app.ctx, alice, 'awaiting setup');
    await connects(id);
    await daemonGone(app.ctx, id);
    await findSilent(app.ctx, aLongTimeAgo);
    expect((await view(id)).status).toBe('online');
  });
});

const wake = () => announce(app.ctx.db, 'due', { kind: 'instance' });
const rowOf = (id: number) =>
  app.ctx.db.selectFrom('instance').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const nodeOf = (id: number) =>
  app.ctx.db.selectFrom('daemon_node').selectAll().where('instance_id', '=', id).executeTakeFirstOrThrow();
