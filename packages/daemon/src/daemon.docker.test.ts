import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { COMMAND_AUDIENCE } from '@stagi/contract/desiredState.ts';
import { freeHostPort } from '@stagi/contract/testing/freePort.ts';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { container, createDaemon, slugOf, type TestDaemon } from './testing/daemon.ts';
import { docker, ensureTestImage } from './testing/image.ts';
import { type FakePlatform, startFakePlatform } from './testing/platform.ts';
import { startRegistry } from './testing/registry.ts';

let platform: FakePlatform;
let daemon: TestDaemon;
let nodes = 9_000_000;

const FOREVER = 'trap "exit 0" TERM; i=0; while :; do i=$((i+1)); echo line $i; sleep 0.2; done';

const shown = (id: number): ActualContainer | undefined =>
  platform.inventory()?.containers.find((one) => one.id === id);
const inState = (id: number, state: ActualContainer['state'], gen?: number) =>
  platform.until(`container ${id} is ${state}`, () => {
    const found = shown(id);
    return found?.state === state && (gen === undefined || found.gen === gen) && found;
  });
const failure = (id: number) =>
  platform.until(`container ${id} fails`, () =>
    platform.received.find((message) => message.type === 'failed' && message.containerId === id),
  );
const result = (commandId: string) =>
  platform.until(`an answer to ${commandId}`, () =>
    platform.received.find((message) => message.type === 'result' && message.commandId === commandId),
  );
const online = () => platform.until('a hello', () => platform.received.find(({ type }) => type === 'hello'));
const nameOf = (id: number) => `stagi-${slugOf(id)}`;
const inspect = (id: number) => docker.getContainer(nameOf(id)).inspect();

beforeAll(() => ensureTestImage());
beforeEach(async () => {
  platform = await startFakePlatform({ node: String(++nodes) });
  daemon = await createDaemon(platform);
  daemon.start();
  await online();
});
afterEach(async () => {
  await daemon.cleanUp();
  await platform.close();
});

describe('containers', () => {
  it('are created, stopped, started and removed as desired', async () => {
    await platform.setDesired([container(1, FOREVER)]);
    await inState(1, 'running', 1);
    const phases = platform.received.flatMap((message) => (message.type === 'progress' ? [message.phase] : []));
    expect(phases).toEqual(['creating', 'starting']);

    await platform.setDesired([container(1, FOREVER, { gen: 2, state: 'stopped' })]);
    expect(await inState(1, 'exited', 2)).toMatchObject({ exitCode: 0 });
    await platform.setDesired([container(1, FOREVER, { gen: 3 })]);
    await inState(1, 'running', 3);

    await platform.setDesired([container(1, FOREVER, { gen: 4, state: 'absent' })]);
    await platform.until('it is gone', () => platform.inventory()?.containers.length === 0);
    await expect(inspect(1)).rejects.toThrow('No such container');
  });

  it('that exit by themselves stay exited, with their exit code', async () => {
    await platform.setDesired([container(1, 'exit 3')]);
    expect(await inState(1, 'exited', 1)).toMatchObject({ exitCode: 3, oomKilled: false });
    const { StartedAt } = (await inspect(1)).State;
    await daemon.end('SIGKILL');
    daemon.start();
    await platform.until('a second hello', () => platform.received.filter(({ type }) => type === 'hello').length === 2);
    await platform.setDesired([container(1, 'exit 3')]);
    await platform.until('the new generation', () => platform.inventory()?.appliedGen === 2);
    expect((await inspect(1)).State.StartedAt).toBe(StartedAt);
  });

  it('that their restart policy starts again are counted, and tell how they ended before', async () => {
    const target = container(1, 'sleep 0.2; exit 7');
    await platform.setDesired([{ ...target, spec: { ...target.spec, restartPolicy: 'always' } }]);
    const waiting = await platform.until('it waits for its third start', () => {
      const found = shown(1);
      return found?.state === 'restarting' && (found.restarts ?? 0) >= 3 && found;
    });
    expect(waiting).toMatchObject({ exitCode: 7 });
    const again = await platform.until('it runs again', () => {
      const found = shown(1);
      return found?.state === 'running' && (found.restarts ?? 0) >= waiting.restarts! && found;
    });
    expect(again).toMatchObject({ exitCode: null, lastExitCode: 7 });
  });

  it('survive a crash of the daemon, which adopts them again', async () => {
    await platform.setDesired([container(1, FOREVER)]);
    const before = await inState(1, 'running');
    await daemon.end('SIGKILL');
    expect((await inspect(1)).State.Running).toBe(true);
    daemon.start();
    await platform.until('a second hello', () => platform.received.filter(({ type }) => type === 'hello').length === 2);
    expect(shown(1)).toMatchObject({ dockerId: before.dockerId, startedAt: before.startedAt, state: 'running' });
  });

  it('follow the last desired state while the daemon is disconnected', async () => {
    await platform.setDesired([container(1, FOREVER)]);
    await inState(1, 'running');
    await daemon.end('SIGKILL');
    await platform.close();
    await docker.getContainer(nameOf(1)).remove({ force: true });
    const seen = Promise.withResolvers<void>();
    // Listens before: Docker keeps only its last 256 events, of all tests that run.
    const events = await docker.getEvents({ filters: { container: [nameOf(1)], event: ['start'] } });
    events.on(
      'data',
      () =>
        void inspect(1).then(
          ({ State }) => State.Running && seen.resolve(),
          () => {},
        ),
    );
    daemon.start();
    await seen.promise;
    await platform.open();
  });

  it('that are not in the desired state are left alone and reported', async () => {
    await platform.setDesired([container(1, FOREVER), container(2, FOREVER)]);
    await inState(1, 'running');
    await inState(2, 'running');
    await platform.setDesired([container(2, FOREVER)]);
    await platform.until('the new generation', () => platform.inventory()?.appliedGen === 2);
    expect(shown(1)).toMatchObject({ state: 'running' });
  });

  it('with the name of a desired one are adopted when they are ours, and left alone otherwise', async () => {
    const foreign = await docker.createContainer({ name: nameOf(1), Image: 'stagi-test:1', Cmd: ['sleep', '1'] });
    await platform.setDesired([container(1, FOREVER)]);
    expect(await failure(1)).toMatchObject({ permanent: true, message: expect.stringContaining('none of ours') });
    await foreign.remove({ force: true });
    const labels = { ...daemon.labels, 'stagi.id': '2', 'stagi.gen': '1' };
    const ours = await docker.createContainer({
      name: nameOf(2),
      Image: 'stagi-test:1',
      Cmd: ['sh', '-c', FOREVER],
      Labels: labels,
    });
    await platform.setDesired([container(2, FOREVER)]);
    expect(await inState(2, 'running')).toMatchObject({ dockerId: ours.id });
  });
});

describe('a failed step', () => {
  it('names a port that is in use', async () => {
    const taken = createServer();
    const host = await freeHostPort();
    const listening = Promise.withResolvers<void>();
    taken.listen(host, '0.0.0.0', listening.resolve);
    await listening.promise;
    const target = container(1, FOREVER, { spec: { ports: [{ host, container: 80 }] } });
    await platform.setDesired([target]);
    expect(await failure(1)).toMatchObject({
      permanent: true,
      gen: 1,
      message: `Port ${host} is in use on the server`,
    });
    taken.close();
    await platform.setDesired([{ ...target, gen: 2 }]);
    await inState(1, 'running', 2);
  });

  it('is reported to a platform that missed it, also after a restart, and not retried when permanent', async () => {
    await platform.setDesired([container(1, 'true', { spec: { command: ['/no/such/program'] } })]);
    const first = await failure(1);
    expect(first).toMatchObject({ permanent: true, message: expect.stringContaining('/no/such/program') });
    await daemon.end('SIGKILL');
    daemon.start();
    await platform.until(
      'the failure once more',
      () => platform.received.filter((one) => one.type === 'failed').length === 2,
    );
    expect(platform.received.filter((one) => one.type === 'failed')[1]).toEqual(first);
  });

  it('distinguishes a missing image from an unreachable registry', async () => {
    const registry = await startRegistry();
    await platform.setDesired([
      container(1, 'true', { spec: { image: `${registry.host}/absent:1` } }),
      container(2, 'true', { spec: { image: '127.0.0.1:9/unreachable:1' } }),
    ]);
    expect(await failure(1)).toMatchObject({ permanent: true, message: expect.stringContaining('was not found') });
    expect(await failure(2)).toMatchObject({
      permanent: false,
      message: expect.stringContaining('cannot be reached'),
      attempt: 1,
      retryInMs: expect.any(Number),
    });
    await platform.until('the second attempt fails', () =>
      platform.received.find((one) => one.type === 'failed' && one.containerId === 2 && one.attempt === 2),
    );
    await registry.close();
  });

  it('stops pulling for a container that is not desired any more', async () => {
    const registry = await startRegistry({ held: true });
    await platform.setDesired([container(1, 'true', { spec: { image: registry.image } })]);
    await platform.until('it pulls', () =>
      platform.received.find((one) => one.type === 'progress' && one.phase === 'pulling'),
    );
    await platform.setDesired([container(2, 'true')]);
    await inState(2, 'exited');
    registry.release();
    await platform.setDesired([container(2, 'true'), container(3, 'true')]);
    await inState(3, 'exited');
    // The image has no program: a start would have failed.
    expect(platform.received.some((one) => one.type === 'failed')).toBe(false);
    expect(platform.inventory()?.images.some(({ reference }) => reference === registry.image)).toBe(false);
    await registry.close();
  });

  it('delays no other container: a slow pull reports progress and is cancelled by a newer desired state', async () => {
    const registry = await startRegistry({ held: true });
    await platform.setDesired([container(1, 'true', { spec: { image: registry.image } }), container(2, FOREVER)]);
    await platform.until('it pulls', () =>
      platform.received.find((one) => one.type === 'progress' && one.phase === 'pulling'),
    );
    await inState(2, 'running');
    await platform.setDesired([
      container(1, 'true', { gen: 2, state: 'absent', spec: { image: registry.image } }),
      container(2, FOREVER),
    ]);
    await platform.until('the new generation', () => platform.inventory()?.appliedGen === 2);
    await platform.setDesired([
      container(1, 'true', { gen: 3, spec: { image: registry.image } }),
      container(2, FOREVER),
    ]);
    registry.release();
    // The image has no program: a failed start means that the pull has ended.
    expect(await failure(1)).toMatchObject({ gen: 3, permanent: true, phase: 'start' });
    const images = await platform.until('the image is told', () =>
      platform.inventory()?.images.find(({ reference }) => reference === registry.image),
    );
    expect(images.sizeBytes).toBeGreaterThanOrEqual(0);
    await registry.close();
    await docker.getContainer(nameOf(1)).remove({ force: true });
    await docker.getImage(registry.image).remove();
  });

  it('refuses a mount outside the policy, even in a signed document', async () => {
    const folder = await mkdtemp('/srv/stagi-bind-');
    await symlink('/etc', join(folder, 'link'));
    await writeFile(join(daemon.folder, 'etc/policy.json'), JSON.stringify({ volumeRoots: [folder] }), { mode: 0o600 });
    const bind = (id: number, host: string) =>
      container(id, 'echo hi > /data/out', { spec: { directories: [{ host, container: '/data' }] } });
    const bad = ['/srv', '/etc', '/', join(folder, 'link'), `${folder}/../x`, '/var/run/docker.sock'];
    await platform.setDesired([
      ...bad.map((host, index) => bind(index + 1, host)),
      bind(90, join(folder, 'good/deep')),
    ]);
    for (const [index] of bad.entries()) expect(await failure(index + 1)).toMatchObject({ permanent: true });
    await inState(90, 'exited');
    expect(await readFile(join(folder, 'good/deep/out'), 'utf8')).toBe('hi\n');
    expect(platform.inventory()?.containers.map(({ id }) => id)).toEqual([90]);
    await rm(folder, { recursive: true });
  });
});

describe('commands', () => {
  it('restart a container once, however often they are sent', async () => {
    await platform.setDesired([container(1, FOREVER)]);
    const before = await inState(1, 'running');
    const document = await platform.command({ kind: 'restart', containerId: 1 }, 'restart-1');
    platform.send({ type: 'command', document });
    expect(await result('restart-1')).toMatchObject({ ok: true });
    const after = (await inspect(1)).State.StartedAt;
    expect(after).not.toBe(before.startedAt);
    await daemon.end('SIGKILL');
    daemon.start();
    await platform.until('a second hello', () => platform.received.filter(({ type }) => type === 'hello').length === 2);
    platform.send({ type: 'command', document });
    await platform.until(
      'the answer again',
      () => platform.received.filter((one) => one.type === 'result').length >= 2,
    );
    expect((await inspect(1)).State.StartedAt).toBe(after);
  });

  it('are refused when they were not signed for this server', async () => {
    await platform.setDesired([container(1, FOREVER)]);
    await inState(1, 'running');
    const stranger = await startFakePlatform({ node: platform.node });
    platform.send({
      type: 'command',
      document: await stranger.command({ kind: 'leave', removeContainers: true }, 'evil'),
    });
    platform.send({ type: 'desired', document: 'x.y.z' });
    await platform.command({ kind: 'restart', containerId: 5 }, 'absent');
    expect(await result('absent')).toMatchObject({ ok: false, message: 'This container is not on the server' });
    expect(platform.received.some((one) => one.type === 'result' && one.commandId === 'evil')).toBe(false);
    await stranger.close();
  });

  it('let a server leave the platform', async () => {
    await platform.setDesired([container(1, FOREVER)]);
    await inState(1, 'running');
    await platform.command({ kind: 'leave', removeContainers: true }, 'leave');
    expect(await result('leave')).toMatchObject({ ok: true });
    expect(await daemon.exit()).toBe(78);
    await expect(inspect(1)).rejects.toThrow('No such container');
    expect(await daemon.run('run')).toMatchObject({ code: 78 });
  });
});

describe('the link', () => {
  it('reconnects after a restart of the platform and reports everything', async () => {
    await platform.setDesired([container(1, FOREVER)]);
    await inState(1, 'running');
    platform.send({ type: 'drain', reconnectAfterMs: 50 });
    await platform.until('a second hello', () => platform.received.filter(({ type }) => type === 'hello').length === 2);
    await platform.close();
    await platform.open();
    await platform.until('a third hello', () => platform.received.filter(({ type }) => type === 'hello').length === 3);
    expect(shown(1)).toMatchObject({ state: 'running' });
  });

  it('is not retried after the server was revoked, and its containers keep running', async () => {
    await platform.setDesired([container(1, FOREVER)]);
    await inState(1, 'running');
    const about = { aud: COMMAND_AUDIENCE, node: platform.node, exp: Math.floor(Date.now() / 1000) + 60 };
    // A man in the middle cannot sign the revocation.
    const stranger = await startFakePlatform({ node: platform.node });
    const reason = 'removed from the workspace';
    platform.send({ type: 'revoked', reason, document: await stranger.sign('revoked+jwt', about) });
    await stranger.close();
    await platform.until('a second hello', () => platform.received.filter(({ type }) => type === 'hello').length === 2);
    platform.send({ type: 'revoked', reason, document: await platform.sign('revoked+jwt', about) });
    expect(await daemon.exit()).toBe(78);
    expect((await inspect(1)).State.Running).toBe(true);
  });

  it('is opened by one daemon only', async () => {
    expect(await daemon.run('run')).toMatchObject({ code: 75 });
  });

  it('reports the facts of the machine, and the daemon listens on no port', async () => {
    const hello = platform.received.find((message) => message.type === 'hello');
    expect(hello).toMatchObject({ protocol: 1, facts: { arch: 'x64', dockerVersion: expect.stringMatching(/^\d/) } });
    const listening = await readFile('/proc/net/tcp', 'utf8');
    const inodes = await daemon.socketInodes();
    const own = listening
      .split('\n')
      .filter((row) => row.includes(' 0A ') && inodes.has(row.trim().split(/\s+/)[9] ?? ''));
    expect(own).toEqual([]);
  });

  it('keeps up with a burst of Docker events', async () => {
    await platform.setDesired([container(1, FOREVER)]);
    await inState(1, 'running');
    daemon.signal('SIGSTOP');
    const labels = { ...daemon.labels, 'stagi.id': '999', 'stagi.gen': '1' };
    const other = await docker.createContainer({
      name: nameOf(999),
      Image: 'stagi-test:1',
      Cmd: ['true'],
      Labels: labels,
    });
    // Docker keeps the last 256 events for late listeners, and drops events for a listener that does not read.
    for (let round = 0; round < 400; round++) await other.rename({ name: `${nameOf(999)}-${round % 2}` });
    await other.remove();
    await docker.getContainer(nameOf(1)).kill();
    const before = platform.received.length;
    daemon.signal('SIGCONT');
    await inState(1, 'exited');
    const inventories = platform.received.slice(before).filter(({ type }) => type === 'inventory').length;
    expect(inventories).toBeLessThan(30);
  });
});
