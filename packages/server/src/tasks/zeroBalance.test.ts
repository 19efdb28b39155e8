import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { syncSegments } from '../billing/segments.ts';
import { inTransaction } from '../db/pool.ts';
import { issueEnrolment } from '../nodes/enrolment.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { type CloudApp, rentServer, startCloudApp, waitForStatus } from '../testing/cloudApp.ts';
import { enrolNode } from '../testing/daemon.ts';
import { connectTaskDaemon } from './testing/taskDaemon.ts';
import { aConnectedServer, joinServer, leftBehind, NOTHING_LEFT } from './testing/taskServer.ts';
import { startTaskWorker } from './worker.ts';

const SLOW = 60_000;

describe('a rented server without a balance', () => {
  let app: CloudApp;
  beforeAll(async () => {
    app = await startCloudApp({ METERING_SECONDS: '1' });
  });
  afterAll(() => app?.close());

  it('is stopped when its tasks have been canceled and their logs have arrived', { timeout: 120_000 }, async () => {
    const bob = await app.signUp('Bob');
    const { id } = await rentServer(bob);
    await waitForStatus(bob, id, 'online', SLOW);
    const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, 'rented'));
    const key = await enrolNode(app.url, token);
    const server = await joinServer(app, bob, id, key, await connectTaskDaemon(app.url, key));
    const running = await server.submit({ cpus: 4 });
    await server.reaches(running, 'running');
    const waiting = await server.submit();
    await server.reaches(waiting, 'in queue');
    const container = await server.containerOf(running);
    // Its log has not arrived: the daemon keeps the container.
    server.daemon.behaviour.removes = false;
    await inTransaction(app.ctx.db, async (trx) => {
      await sql`update instance set price_per_hour = ${10n ** 12n} where id = ${id}`.execute(trx);
      await syncSegments(trx, id);
    });
    await expect.poll(async () => (await server.view(running)).status, { timeout: SLOW }).toBe('canceling');
    expect(await server.reaches(waiting, 'scheduled')).toMatchObject({ statusReason: 'Zero balance' });
    const heldSince = async () =>
      (await sql<{ at: Date | null }>`select zero_stopped_at as at from instance where id = ${id}`.execute(app.ctx.db))
        .rows[0]!.at;
    await expect.poll(heldSince, { timeout: SLOW }).not.toBeNull();
    // It is charged no more, and runs on until the container is gone.
    const chargedUntil = await sql<{ open: number }>`select count(*)::int as open from segment
      where kind = 'instance' and resource_id = ${id} and rate = 'running' and ended_at is null`.execute(app.ctx.db);
    expect(chargedUntil.rows[0]!.open).toBe(0);
    await waitForStatus(bob, id, 'online', SLOW);
    server.daemon.behaviour.removes = true;
    server.daemon.lose(container);
    expect(await server.reaches(running, 'canceled')).toMatchObject({ statusReason: 'Zero balance' });
    await waitForStatus(bob, id, 'stopped', SLOW);
    expect(await server.view(waiting)).toMatchObject({ status: 'scheduled', statusReason: 'Zero balance' });
    await server.daemon.close();
  });
});

describe('an own server of a workspace without a balance', () => {
  let app: TestApp;
  let worker: { stop(): Promise<void> };
  // Without metering: it would find the starter credit again.
  beforeAll(async () => {
    app = await startTestApp({}, { role: 'api,s3' });
    worker = startTaskWorker(app.ctx);
  });
  afterAll(async () => {
    await worker?.stop();
    await app?.close();
  });

  const setExhausted = (workspaceId: number, days: number | null) =>
    sql`update workspace set exhausted_at = now() - make_interval(days => ${days}) where id = ${workspaceId}`.execute(
      app.ctx.db,
    );

  it('keeps its tasks frozen until a credit comes', async () => {
    const alice = await app.signUp('Alice');
    const server = await aConnectedServer(app, alice, { kind: 'self-hosted' });
    const running = await server.submit({ cpus: 3 });
    await server.reaches(running, 'running');
    const container = await server.containerOf(running);
    await setExhausted(alice.workspaceId, 0);
    await expect.poll(() => server.daemon.shown(container)?.state, { timeout: 60_000 }).toBe('paused');
    await expect
      .poll(() => server.view(running))
      .toMatchObject({ status: 'running', statusReason: 'Zero balance', statusDeadline: expect.any(String) });
    const waiting = await server.submit();
    await server.reaches(waiting, 'scheduled');
    await setExhausted(alice.workspaceId, null);
    await expect.poll(() => server.daemon.shown(container)?.state, { timeout: 60_000 }).toBe('running');
    await server.reaches(waiting, 'running');
    for (const id of [running, waiting]) {
      server.daemon.end(await server.containerOf(id), 0);
      expect(Number((await server.reaches(id, 'done')).cost.STAGI.decimalValue)).toBe(0);
    }
    expect([...server.daemon.starts.values()]).toEqual([1, 1]);
    expect(await leftBehind(app, alice.workspaceId)).toEqual(NOTHING_LEFT);
    await server.daemon.close();
  });

  it('cancels them after two weeks', async () => {
    const alice = await app.signUp('Alice');
    const server = await aConnectedServer(app, alice, { kind: 'self-hosted' });
    const id = await server.submit();
    await server.reaches(id, 'running');
    await setExhausted(alice.workspaceId, 14);
    expect(await server.reaches(id, 'canceled')).toMatchObject({ statusReason: 'Zero balance' });
    await expect.poll(() => leftBehind(app, alice.workspaceId)).toEqual(NOTHING_LEFT);
    await server.daemon.close();
  });
});
