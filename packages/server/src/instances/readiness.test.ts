import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { announce } from '../bus/bus.ts';
import type { Provider } from '../providers/provider.ts';
import { type CloudApp, rentServer, startCloudApp, viewInstance, waitForStatus } from '../testing/cloudApp.ts';
import { aSelfHostedServer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { daemonConnected, daemonDisconnected, databaseNow, recordHeartbeats } from './daemonSignals.ts';
import { markSilentServers } from './liveness.ts';

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

/** As the link does when a daemon connects: stores it, then reports it. */
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
  await daemonConnected(app.ctx, id);
}

async function beats(id: number): Promise<void> {
  await app.ctx.db
    .updateTable('daemon_node')
    .set({ last_seen_at: sql<Date>`clock_timestamp()` })
    .where('instance_id', '=', id)
    .execute();
  await recordHeartbeats(app.ctx, [id]);
}

async function lastSeen(id: number, secondsAgo: number): Promise<void> {
  await sql`update daemon_node set last_seen_at = now() - interval '1 second' * ${secondsAgo} where instance_id = ${id}`.execute(
    app.ctx.db,
  );
}

const aLongTimeAgo = new Date(0);

describe('a rented server with a daemon', () => {
  const offerId = 'daemons:sim-cpu-4';

  it('is online when its cloud shows it running and its daemon has connected, in either order', async () => {
    const { id } = await rentServer(alice, { offerId });
    await expect
      .poll(async () =>
        (await viewInstance(alice, id)).progress.filter(({ at }) => at !== null).map(({ step }) => step),
      )
      .toEqual(['capacity', 'booting']);
    expect((await viewInstance(alice, id)).status).toBe('creating');
    await connects(id);
    const online = await waitForStatus(alice, id, 'online');
    expect(online.progress.every(({ at }) => at !== null)).toBe(true);
    expect(online.daemonSeenAt).not.toBeNull();
  });

  it('gets one enrolment in its boot script, which is stored encrypted and only until the cloud has it', async () => {
    await app.control.fault('start', { kind: 'internal' }, 1);
    const { id } = await rentServer(alice, { offerId });
    const paramsOf = async () => {
      const op = await app.ctx.db
        .selectFrom('provider_op')
        .selectAll()
        .where('instance_id', '=', id)
        .executeTakeFirst();
      return op?.params ?? {};
    };
    await expect.poll(async () => (await paramsOf()).userData).toMatch(/^v1\./);
    await waitForStatus(alice, id, 'creating');
    expect(await paramsOf()).toEqual({ ref: expect.any(String) });
    const [machine] = await app.machinesOf(id);
    expect(machine!.userData).toMatch(/^#!\/bin\/sh[\s\S]*daemon-token\.jwt/);
    const { enrol_jti } = await nodeOf(id);
    const token = /'(eyJ[\w.-]+)'/.exec(machine!.userData)![1]!;
    expect(JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())).toMatchObject({ jti: enrol_jti });
  });

  it('is back from a reboot only with a new connection', async () => {
    const { id } = await rentServer(alice, { offerId });
    await waitForStatus(alice, id, 'creating');
    await connects(id);
    await waitForStatus(alice, id, 'online');
    await alice.client(api.instances.reboot, { id });
    await expect.poll(async () => (await rowOf(id)).reboot_done).toBe(1);
    await beats(id);
    await wake();
    expect((await viewInstance(alice, id)).status).toBe('rebooting');
    await connects(id);
    await waitForStatus(alice, id, 'online');
  });

  it('is unresponsive, not in error, when its daemon does not come back in time', async () => {
    const { id } = await rentServer(alice, { offerId });
    await waitForStatus(alice, id, 'creating');
    await connects(id);
    await waitForStatus(alice, id, 'online');
    await alice.client(api.instances.stop, { id });
    await waitForStatus(alice, id, 'stopped');
    await alice.client(api.instances.start, { id });
    await expect.poll(async () => (await rowOf(id)).machine_state).toBe('running');
    expect((await viewInstance(alice, id)).status).toBe('powering on');
    await sql`update instance set status_deadline = now(), next_at = now() where id = ${id}`.execute(app.ctx.db);
    await wake();
    expect((await waitForStatus(alice, id, 'unresponsive')).statusReason).toBe('Its agent did not reconnect in time');
    await connects(id);
    expect(await viewInstance(alice, id)).toMatchObject({ status: 'online', statusReason: null });
  });

  it('loses its daemon’s key when it is terminated', async () => {
    const { id } = await rentServer(alice, { offerId });
    await waitForStatus(alice, id, 'creating');
    await alice.client(api.instances.terminate, { id });
    await waitForStatus(alice, id, 'terminated');
    expect((await nodeOf(id)).revoked_at).not.toBeNull();
    await connects(id);
    expect((await viewInstance(alice, id)).status).toBe('terminated');
  });

  it('is unresponsive after 40 s of silence and never offline', async () => {
    const { id } = await rentServer(alice, { offerId });
    await waitForStatus(alice, id, 'creating');
    await connects(id);
    await waitForStatus(alice, id, 'online');
    await lastSeen(id, 41);
    await markSilentServers(app.ctx, aLongTimeAgo);
    expect((await viewInstance(alice, id)).status).toBe('unresponsive');
    await lastSeen(id, 4000);
    await markSilentServers(app.ctx, aLongTimeAgo);
    expect((await viewInstance(alice, id)).status).toBe('unresponsive');
    await beats(id);
    expect((await viewInstance(alice, id)).status).toBe('online');
  });
});

describe('a self-hosted server', () => {
  const view = async (id: number) => (await alice.client(api.selfHosted.view, { id })).entity;

  it('comes online with its daemon, is unresponsive after 40 s of silence and offline after five minutes', async () => {
    const id = await aSelfHostedServer(app.ctx, alice, 'awaiting setup');
    await connects(id);
    expect(await view(id)).toMatchObject({ status: 'online', statusReason: null });

    await lastSeen(id, 39);
    await markSilentServers(app.ctx, aLongTimeAgo);
    expect((await view(id)).status).toBe('online');

    await lastSeen(id, 41);
    await markSilentServers(app.ctx, aLongTimeAgo);
    const silent = await view(id);
    expect(silent).toMatchObject({ status: 'unresponsive', statusReason: 'Its agent has not reported for 40 seconds' });
    expect(silent.statusSeenAt).toBe(silent.daemonSeenAt);

    await lastSeen(id, 299);
    await markSilentServers(app.ctx, aLongTimeAgo);
    expect((await view(id)).status).toBe('unresponsive');
    await lastSeen(id, 301);
    await markSilentServers(app.ctx, aLongTimeAgo);
    expect(await view(id)).toMatchObject({
      status: 'offline',
      statusReason: 'Its agent has not reported for 5 minutes',
    });

    await beats(id);
    expect(await view(id)).toMatchObject({ status: 'online', statusReason: null });
    const { entities } = await alice.client(api.selfHosted.activities, { id });
    expect(entities.map(({ to }) => to)).toEqual(['online', 'offline', 'unresponsive', 'online']);
  });

  it('is not marked silent for the time in which the platform was down', async () => {
    const id = await aSelfHostedServer(app.ctx, alice, 'awaiting setup');
    await connects(id);
    await lastSeen(id, 4000);
    await markSilentServers(app.ctx, await databaseNow(app.ctx.db));
    expect((await view(id)).status).toBe('online');
  });

  it('stays online when its link disconnects for a moment', async () => {
    const id = await aSelfHostedServer(app.ctx, alice, 'awaiting setup');
    await connects(id);
    await daemonDisconnected(app.ctx, id);
    await markSilentServers(app.ctx, aLongTimeAgo);
    expect((await view(id)).status).toBe('online');
  });
});

const wake = () => announce(app.ctx.db, 'due', { kind: 'instance' });
const rowOf = (id: number) =>
  app.ctx.db.selectFrom('instance').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const nodeOf = (id: number) =>
  app.ctx.db.selectFrom('daemon_node').selectAll().where('instance_id', '=', id).executeTakeFirstOrThrow();
