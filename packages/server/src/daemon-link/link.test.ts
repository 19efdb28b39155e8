import { once } from 'node:events';
import { api } from '@stagi/contract/api.ts';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { announce } from '../bus/bus.ts';
import { applyInventory } from '../containers/inventory.ts';
import { inTransaction } from '../db/pool.ts';
import { transitionInstance } from '../instances/status.ts';
import { issueEnrolment } from '../nodes/enrolment.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { connectDaemon, dial, enrolNode, makeKey, type NodeKey } from '../testing/daemon.ts';
import { aContainer, aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';
import { waitForBlockedStatements } from '../testing/locks.ts';
import type { Person } from '../testing/person.ts';

describe('the daemon link', () => {
  let app: TestApp;
  let alice: Person;
  let server: number;
  let key: NodeKey;

  const join = async (id: number, kind: 'rented' | 'self-hosted' = 'rented'): Promise<NodeKey> => {
    const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, kind));
    return enrolNode(app.url, token);
  };

  beforeAll(async () => {
    app = await startTestApp();
    alice = await app.signUp();
    server = await aRentedInstance(app.ctx, alice);
    key = await join(server);
  });
  afterAll(async () => {
    await app?.close();
  });

  const statusOf = async (id: number) => (await alice.client(api.containers.view, { id })).entity.status;
  const nodeRow = (id = server) =>
    app.ctx.db.selectFrom('daemon_node').selectAll().where('instance_id', '=', id).executeTakeFirstOrThrow();

  it('authenticates only who signs its challenge with the enrolled key', async () => {
    const past = Math.floor(Date.now() / 1000) - 120;
    const later = Math.floor(Date.now() / 1000) + 3600;
    const other = await aSelfHostedServer(app.ctx, alice);
    const wrong: Parameters<typeof dial>[2][] = [
      { nonce: 'the nonce of another link' },
      { audience: 'stagi-daemon-enrol' },
      { sub: String(other) },
      { exp: past },
      { exp: later },
      { signer: makeKey().privateKey },
    ];
    const before = (await nodeRow()).conn_epoch;
    for (const change of wrong) {
      const daemon = await dial(app.url, key, change);
      expect((await daemon.closed).code).toBe(4401);
    }
    for (const node of [String(other), '0', '-1', '99999999999', 'x', `${server} `]) {
      const daemon = await dial(app.url, { ...key, node });
      expect((await daemon.closed).code, node).toBe(4401);
    }
    expect((await nodeRow()).conn_epoch).toBe(before);
    const daemon = await dial(app.url, key);
    expect(await daemon.next('welcome')).toMatchObject({ epoch: before + 1, heartbeatSeconds: 10 });
    await daemon.close();
    expect(wrong.length).toBe(6);
  });

  it('fences the older of two connections of one key', async () => {
    const id = await aContainer(app.ctx, alice, server);
    const older = await connectDaemon(app.url, key);
    const newer = await connectDaemon(app.url, key);
    expect((await older.closed).code).toBe(4409);
    newer.applyDesired(await newer.desired());
    await expect.poll(() => statusOf(id)).toBe('running');
    expect((await nodeRow()).disconnected_at).toBeNull();
    await newer.close();
    await expect.poll(async () => (await nodeRow()).disconnected_at).not.toBeNull();
  });

  it('records and shows the facts of the hello', async () => {
    const daemon = await connectDaemon(app.url, key, { facts: { cpus: 3, hostname: 'three' } });
    daemon.inventory.images = [{ reference: 'busybox:latest', sizeBytes: 4_000_000, createdAt: null }];
    daemon.sendInventory();
    await expect
      .poll(async () => (await alice.client(api.serverImages.list, { instanceRef: { id: server } })).entities)
      .toMatchObject([{ reference: 'busybox:latest' }]);
    const { entity } = await alice.client(api.instances.view, { id: server });
    expect(entity).toMatchObject({ daemonVersion: '0.1.0', facts: { hostname: 'three', cpus: 3 } });
    await daemon.close();
  });

  it('shows a machine that names itself with what hides as one line, and no image of such a name', async () => {
    const daemon = await connectDaemon(app.url, key, {
      facts: { hostname: 'web\u202e\r\n1', cpuName: '\u3164', kernel: '\u001b[2J6.1', os: `Debian${'x'.repeat(500)}` },
    });
    daemon.inventory.images = ['busybox:latest', 'busy\u202ebox', 'a\nb', '\u007f', 'x\u2028y'].map((reference) => ({
      reference,
      sizeBytes: 1,
      createdAt: null,
    }));
    daemon.sendInventory();
    const images = () => alice.client(api.serverImages.list, { instanceRef: { id: server } });
    await expect
      .poll(async () => (await images()).entities.map(({ reference }) => reference))
      .toEqual(['busybox:latest']);
    const { entity } = await alice.client(api.instances.view, { id: server });
    expect(entity.facts).toMatchObject({ hostname: 'web  1', cpuName: '', kernel: '[2J6.1' });
    expect(entity.facts?.os).toHaveLength(200);
    await daemon.close();
  });

  it('closes a link on an invalid message', async () => {
    const bad: (string | Uint8Array)[] = [
      'no json',
      '{"type":"unknown"}',
      JSON.stringify({ type: 'heartbeat' }),
      JSON.stringify({ type: 'auth', node: key.node, proof: 'x' }),
      new Uint8Array([1, 2]),
      new Uint8Array(13).fill(255),
    ];
    for (const message of bad) {
      const daemon = await connectDaemon(app.url, key);
      daemon.socket.send(message);
      expect((await daemon.closed).code).toBe(1008);
    }
    const early = new WebSocket(`${app.url.replace('http', 'ws')}/daemon-api/link`);
    early.on('open', () => early.send(JSON.stringify({ type: 'heartbeat', at: '' })));
    const code = await new Promise((resolve) => early.on('close', resolve));
    expect(code).toBe(1008);
    console.log(`bad messages: n = ${bad.length + 1}, accepted 0`);
  });

  it('sends a signed desired state with a higher generation for each change, and none without a change', async () => {
    const daemon = await connectDaemon(app.url, key);
    const first = await daemon.desired();
    const id = await aContainer(app.ctx, alice, server);
    await announce(app.ctx.db, 'node', { instanceId: server });
    const second = await daemon.desired(({ containers }) => containers.some((container) => container.id === id));
    expect(second.gen).toBeGreaterThan(first.gen);
    expect(second).toMatchObject({ node: String(server), sshKeys: [] });
    daemon.applyDesired(second);
    await expect.poll(() => statusOf(id)).toBe('running');

    await Promise.all(Array.from({ length: 20 }, () => announce(app.ctx.db, 'node', { instanceId: server })));
    await alice.client(api.containers.stop, { id });
    const third = await daemon.desired(({ containers }) =>
      containers.some((one) => one.id === id && one.state === 'stopped'),
    );
    const documents = daemon.received.filter(({ type }) => type === 'desired');
    expect(documents).toHaveLength(3);
    expect(third.gen).toBe(second.gen + 1);
    await daemon.close();

    const again = await connectDaemon(app.url, key);
    expect((await again.desired()).gen).toBeGreaterThan(third.gen);
    await again.close();
  });

  it('delivers a restart until it is answered, not afterwards, and shows its result', async () => {
    const daemon = await connectDaemon(app.url, key);
    const id = await aContainer(app.ctx, alice, server);
    await announce(app.ctx.db, 'node', { instanceId: server });
    daemon.applyDesired(await daemon.desired(({ containers }) => containers.some((container) => container.id === id)));
    await expect.poll(async () => (await alice.client(api.containers.view, { id })).entity.startedAt).not.toBeNull();

    const { entity } = await alice.client(api.containers.restart, { id });
    expect(entity.status).toBe('rebooting');
    const command = await daemon.command(({ do: what }) => what.kind === 'restart' && what.containerId === id);
    daemon.sendInventory();
    await daemon.close();

    const back = await connectDaemon(app.url, key, daemon.inventory);
    const repeated = await back.command(({ id: commandId }) => commandId === command.id);
    expect(repeated).toEqual(command);
    expect(await statusOf(id)).toBe('rebooting');
    back.inventory.containers = daemon.inventory.containers.map((container) =>
      container.id === id ? { ...container, startedAt: new Date(Date.now() + 1000).toISOString() } : container,
    );
    back.send({ type: 'result', commandId: command.id, ok: true, message: null });
    back.sendInventory();
    await expect.poll(() => statusOf(id)).toBe('running');
    await back.close();

    const third = await connectDaemon(app.url, key, back.inventory);
    await alice.client(api.containers.restart, { id });
    const next = await third.command(({ do: what }) => what.kind === 'restart');
    expect(next.id).not.toBe(command.id);
    third.send({ type: 'result', commandId: next.id, ok: false, message: 'Docker said no' });
    await expect
      .poll(async () => (await alice.client(api.containers.view, { id })).entity)
      .toMatchObject({ status: 'failed', statusReason: 'Docker said no' });
    await third.close();
  });

  it('lets a malicious daemon change only the containers of its own server', async () => {
    const bob = await app.signUp();
    const elsewhere = await aRentedInstance(app.ctx, bob);
    const theirs = await aContainer(app.ctx, bob, elsewhere);
    const before = await bob.client(api.containers.view, { id: theirs });
    const daemon = await connectDaemon(app.url, key);
    daemon.inventory.containers = [
      {
        id: theirs,
        gen: 1,
        dockerId: 'x',
        state: 'exited',
        exitCode: 1,
        oomKilled: false,
        error: null,
        startedAt: null,
        finishedAt: null,
      },
      {
        id: Number.MAX_SAFE_INTEGER,
        gen: 1,
        dockerId: 'y',
        state: 'running',
        exitCode: null,
        oomKilled: false,
        error: null,
        startedAt: null,
        finishedAt: null,
      },
    ];
    daemon.sendInventory();
    daemon.send({ type: 'failed', containerId: theirs, gen: 1, phase: 'starting', message: 'ha', permanent: true });
    daemon.send({ type: 'progress', containerId: theirs, gen: 1, phase: 'pulling', detail: 'ha', fraction: 1 });
    daemon.send({ type: 'result', commandId: 'not an id', ok: true, message: null });
    daemon.send({ type: 'log-open', stream: 1, containerId: theirs, epoch: 'x' });
    expect(await daemon.next('log-refuse')).toMatchObject({ stream: 1 });
    daemon.inventory.containers = [];
    daemon.inventory.images = [{ reference: 'marker', sizeBytes: 1, createdAt: null }];
    daemon.sendInventory();
    await expect
      .poll(async () => (await alice.client(api.serverImages.list, { instanceRef: { id: server } })).entities)
      .toMatchObject([{ reference: 'marker' }]);
    expect(await bob.client(api.containers.view, { id: theirs })).toEqual(before);
    expect(daemon.socket.readyState).toBe(WebSocket.OPEN);
    await daemon.close();
  });

  it('records heartbeats and brings an unresponsive server and its containers back online', async () => {
    const own = await aSelfHostedServer(app.ctx, alice, 'unresponsive');
    const ownKey = await join(own, 'self-hosted');
    const daemon = await connectDaemon(app.url, ownKey);
    await expect.poll(async () => (await alice.client(api.selfHosted.view, { id: own })).entity.status).toBe('online');
    const seen = (await nodeRow(own)).last_seen_at!;
    daemon.send({ type: 'heartbeat', at: new Date().toISOString() });
    await expect.poll(async () => (await nodeRow(own)).last_seen_at!.getTime()).toBeGreaterThan(seen.getTime());
    await daemon.close();
  });

  it('does not apply an older inventory after a newer one that comes in while its server comes back', async () => {
    const own = await aRentedInstance(app.ctx, alice);
    const id = await aContainer(app.ctx, alice, own);
    const startedAt = new Date().toISOString();
    const running: ActualContainer = {
      id,
      gen: 1,
      dockerId: `docker-${id}`,
      state: 'running',
      exitCode: null,
      oomKilled: false,
      error: null,
      startedAt,
      finishedAt: null,
    };
    const ended: ActualContainer = { ...running, state: 'exited', exitCode: 143, finishedAt: startedAt };
    const daemon = await connectDaemon(app.url, await join(own), { containers: [running] });
    await expect.poll(async () => (await nodeRow(own)).inventory).toMatchObject({ containers: [running] });
    await daemon.close();
    const setServer = (status: string) =>
      inTransaction(app.ctx.db, (trx) => transitionInstance(app.ctx, trx, own, status, {}));
    await setServer('unresponsive');
    await app.ctx.db.updateTable('container').set({ desired: 'stopped' }).where('id', '=', id).execute();
    const newer = { ...daemon.inventory, containers: [ended] };
    const back = await inTransaction(app.ctx.db, async (trx) => {
      await trx
        .updateTable('daemon_node')
        .set({ inventory: JSON.stringify(newer) })
        .where('instance_id', '=', own)
        .execute();
      await applyInventory(trx, own, newer);
      // It waits for this transaction, so it is awaited after it.
      const online = setServer('online');
      await waitForBlockedStatements(app.ctx.db);
      return { online };
    });
    await back.online;
    expect(await statusOf(id)).toBe('stopped');
  });

  it('handles a flood of messages with bounded memory, including the last one', async () => {
    const daemon = await connectDaemon(app.url, key);
    for (let count = 0; count < 500; count += 1) daemon.sendInventory();
    daemon.inventory.images = [{ reference: 'after-the-flood\u0000', sizeBytes: 1, createdAt: null }];
    daemon.sendInventory();
    await expect
      .poll(async () => (await alice.client(api.serverImages.list, { instanceRef: { id: server } })).entities)
      .toMatchObject([{ reference: 'after-the-flood\uFFFD' }]);
    await daemon.close();
  });

  it('drains daemons and log readers on a graceful shutdown', async () => {
    const other = await startTestApp();
    const owner = await other.signUp();
    const id = await aRentedInstance(other.ctx, owner);
    const { token } = await inTransaction(other.ctx.db, (trx) => issueEnrolment(other.ctx, trx, id, 'rented'));
    const daemon = await connectDaemon(other.url, await enrolNode(other.url, token));
    const { ticket } = await owner.client(api.auth.streamTicket, {});
    const container = await aContainer(other.ctx, owner, id);
    const tail = new WebSocket(
      `${other.url.replace('http', 'ws')}/frontend-api/logging/tail?ticket=${ticket}&type=docker-container&id=${container}`,
    );
    await once(tail, 'open');
    const left = once(tail, 'close');
    const asked = daemon.next('drain').then((drain) => {
      daemon.socket.close(1000, 'drained');
      return drain;
    });
    await other.close();
    expect((await daemon.closed).code).toBe(1000);
    expect((await asked).reconnectAfterMs).toBeGreaterThanOrEqual(500);
    // 1006 would mean that it was terminated after the timeout.
    expect((await left)[0]).not.toBe(1006);
  });
});
