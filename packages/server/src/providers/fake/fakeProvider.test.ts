import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeProvider } from '../conformance.ts';
import type { Provider, StartRequest } from '../provider.ts';
import { type FakeCloudProcess, type FakeControl, spawnFakeCloud } from './control.ts';
import { createFakeProvider } from './fakeProvider.ts';
import { FAKE_FAULT_KINDS, FAKE_OPERATIONS } from './protocol.ts';

const minute = 60_000;

describeProvider('the fake cloud', async () => {
  const { cloud, dir } = await openCloud();
  // Two minutes of provisioning pass in about a millisecond.
  await cloud.control.clock({ scale: 100_000 });
  return {
    provider: createFakeProvider({ url: cloud.url, environment: 'conformance' }),
    otherEnvironment: createFakeProvider({ url: cloud.url, environment: 'neighbour' }),
    environment: 'conformance',
    close: () => closeCloud(cloud, dir),
  };
});

describe('a fault of the fake cloud', () => {
  let cloud: FakeCloudProcess;
  let control: FakeControl;
  /** With the timeout of the platform. */
  let provider: Provider;
  /** With a short timeout, for replies that never come. */
  let hasty: Provider;
  let dir: string;

  beforeAll(async () => {
    ({ cloud, dir } = await openCloud());
    control = cloud.control;
    provider = createFakeProvider({ url: cloud.url, environment: 'test' });
    hasty = createFakeProvider({ url: cloud.url, environment: 'test', timeoutMs: 300 });
  });
  // With its clock, its capacity and its faults.
  beforeEach(() => control.reset());
  afterAll(() => closeCloud(cloud, dir));

  const request = (id: string): StartRequest => ({
    token: `token-${id}`,
    name: `stagi-test-${id}`,
    offerId: 'sim-l4-1',
    tags: { env: 'test', resource: id, op: `token-${id}` },
    userData: '',
  });

  /** Waits until all faults were used: a busy cloud may read a call only after its caller timed out. */
  const struck = () => expect.poll(async () => (await control.report()).faults).toEqual([]);

  const running = async (id: string) => {
    await provider.start(request(id));
    await control.clock({ advanceMs: 3 * minute });
    return (await provider.getMachine(request(id).name))!;
  };

  it('rate limit and internal error: nothing happens, and the error kind says whether it may have', async () => {
    await control.fault('start', { kind: 'rateLimited' });
    await control.fault('start', { kind: 'internal' });
    await expect(provider.start(request('a'))).rejects.toMatchObject({ kind: 'retryable' });
    await expect(provider.start(request('a'))).rejects.toMatchObject({ kind: 'unknown' });
    expect(await provider.list()).toEqual([]);
    await provider.start(request('a'));
    expect(await provider.list()).toHaveLength(1);
  });

  it('a hanging read is retryable, a hanging start may have happened', async () => {
    await control.fault('list', { kind: 'hang' });
    await control.fault('start', { kind: 'hang' });
    await expect(hasty.list()).rejects.toMatchObject({ kind: 'retryable' });
    await expect(hasty.start(request('a'))).rejects.toMatchObject({ kind: 'unknown' });
    await struck();
    expect((await control.report()).machines).toEqual([]);
  });

  it.each(['effectThenTimeout', 'effectThenReset'] as const)(
    '%s: the same token finds the machine again',
    async (kind) => {
      await control.fault('start', { kind });
      await expect(hasty.start(request('a'))).rejects.toMatchObject({ kind: 'unknown' });
      await struck();
      const made = await provider.getMachine(request('a').name);
      expect(made).not.toBeNull();
      expect(await provider.start(request('a'))).toEqual({ ref: made!.ref });
      expect((await control.report()).machines).toHaveLength(1);
    },
  );

  it('a lost reply of stop and terminate: they are idempotent', async () => {
    const { ref, name } = await running('a');
    await control.fault('stop', { kind: 'effectThenTimeout' });
    await expect(hasty.stop!(ref)).rejects.toMatchObject({ kind: 'unknown' });
    await struck();
    await provider.stop!(ref);
    await control.fault('terminate', { kind: 'effectThenReset' });
    await expect(provider.terminate(ref)).rejects.toMatchObject({ kind: 'unknown' });
    await provider.terminate(ref);
    await control.clock({ advanceMs: minute });
    expect(await provider.getMachine(name)).toBeNull();
  });

  it('an error with an id: the machine exists and its ref is returned', async () => {
    await control.fault('start', { kind: 'effectThenErrorWithId' });
    const { ref } = await provider.start(request('a'));
    expect((await provider.getMachine(request('a').name))?.ref).toBe(ref);
  });

  it('a token used for another machine is refused', async () => {
    await provider.start(request('a'));
    const other = { ...request('b'), token: request('a').token };
    await expect(provider.start(other)).rejects.toMatchObject({ kind: 'permanent' });
    expect((await control.report()).machines).toHaveLength(1);
  });

  it('visibility lag: the machine is listed late, and starting again makes no second one', async () => {
    await control.fault('start', { kind: 'visibilityLag', lagMs: minute });
    const { ref } = await provider.start(request('a'));
    expect(await provider.getMachine(request('a').name)).toBeNull();
    expect(await provider.list()).toEqual([]);
    expect(await provider.start(request('a'))).toEqual({ ref });
    await control.clock({ advanceMs: minute });
    expect((await provider.getMachine(request('a').name))?.ref).toBe(ref);
  });

  it('a stale list shows the past, then the present', async () => {
    await provider.start(request('a'));
    await control.fault('list', { kind: 'stale' });
    await control.fault('look', { kind: 'stale' });
    await provider.start(request('b'));
    await control.clock({ advanceMs: 3 * minute });
    expect((await provider.list()).map(({ name, state }) => [name, state])).toEqual([['stagi-test-a', 'creating']]);
    expect(await provider.getMachine(request('b').name)).toBeNull();
    expect(await provider.list()).toHaveLength(2);
  });

  it('a partial list lacks names, an empty one all of them', async () => {
    await provider.start(request('a'));
    await provider.start(request('b'));
    await control.fault('list', { kind: 'partial', omit: ['stagi-test-a'] });
    await control.fault('list', { kind: 'partial', omit: 'all' });
    expect((await provider.list()).map(({ name }) => name)).toEqual(['stagi-test-b']);
    expect(await provider.list()).toEqual([]);
    expect(await provider.list()).toHaveLength(2);
  });

  it('a false "deleted": the machine is hidden, reappears, and is still billed', async () => {
    const { ref, name } = await running('a');
    await control.fault('terminate', { kind: 'falseDeleted', hiddenMs: 10 * minute });
    await provider.terminate(ref);
    expect(await provider.getMachine(name)).toBeNull();
    await control.clock({ advanceMs: 10 * minute });
    expect(await provider.getMachine(name)).toMatchObject({ ref, state: 'running' });
    expect((await control.report()).machines[0]).toMatchObject({ goneAt: null });
  });

  it('capacity can be lost between the list and the start', async () => {
    expect((await provider.offers()).find(({ id }) => id === 'sim-l4-1')?.available).toBeGreaterThan(0);
    await control.fault('start', { kind: 'noCapacity' });
    await expect(provider.start(request('a'))).rejects.toMatchObject({ kind: 'noCapacity' });
    await control.capacity('sim-l4-1', 1);
    await provider.start(request('a'));
    expect((await provider.offers()).find(({ id }) => id === 'sim-l4-1')?.available).toBe(0);
    await expect(provider.start(request('b'))).rejects.toMatchObject({ kind: 'noCapacity' });
  });

  it('provisioning can fail with a reason, or never end', async () => {
    await control.fault('start', { kind: 'provisioningFails', detail: 'host broke' });
    await control.fault('start', { kind: 'neverReady' });
    await provider.start(request('a'));
    await provider.start(request('b'));
    await control.clock({ advanceMs: 60 * minute });
    expect(await provider.getMachine(request('a').name)).toMatchObject({
      state: 'error',
      detail: 'host broke',
      ip: null,
    });
    expect(await provider.getMachine(request('b').name)).toMatchObject({ state: 'creating' });
  });

  it('machines vanish and fail by themselves', async () => {
    const first = await running('a');
    const second = await running('b');
    await control.vanish(first.name);
    await control.fail(second.name, 'preempted');
    expect(await provider.getMachine(first.name)).toBeNull();
    await expect(provider.stop!(first.ref)).rejects.toMatchObject({ kind: 'permanent' });
    await provider.terminate(first.ref);
    expect(await provider.getMachine(second.name)).toMatchObject({ state: 'error', detail: 'preempted' });
  });

  it('strays of our environment are listed, those of others are not', async () => {
    await control.stray({ name: 'stagi-test-9', offerId: 'sim-cpu-4', tags: { env: 'test', resource: '9' } });
    await control.stray({ name: 'somebody', offerId: 'sim-cpu-4', tags: {} });
    expect((await provider.list()).map(({ name }) => name)).toEqual(['stagi-test-9']);
  });

  it('a change that is visible late has happened before', async () => {
    const { ref, name } = await running('a');
    await control.fault('stop', { kind: 'visibilityLag', lagMs: minute });
    await provider.stop!(ref);
    expect(await provider.getMachine(name)).toMatchObject({ state: 'running' });
    expect((await control.report()).machines[0]).toMatchObject({ state: 'stopping' });
    await control.clock({ advanceMs: minute });
    expect(await provider.getMachine(name)).toMatchObject({ state: 'stopped' });
    await control.fault('terminate', { kind: 'visibilityLag', lagMs: minute });
    await provider.terminate(ref);
    await control.clock({ advanceMs: minute / 2 });
    expect((await provider.list()).map((machine) => machine.name)).toEqual([name]);
    await control.clock({ advanceMs: minute / 2 });
    expect(await provider.list()).toEqual([]);
  });

  it('a rate limit says how long to wait', async () => {
    await control.fault('list', { kind: 'rateLimited', retryAfterS: 7 });
    await expect(provider.list()).rejects.toMatchObject({ kind: 'retryable', retryAfterMs: 7_000 });
  });

  it('that does not exist is refused, and all that exist are documented', async () => {
    await expect(control.fault('list', { kind: 'no such' } as never)).rejects.toThrow('No fault no such');
    await expect(control.fault('nothing' as never, { kind: 'hang' })).rejects.toThrow('No fault hang on nothing');
    const described = await readFile(join(import.meta.dirname, 'README.md'), 'utf8');
    for (const word of [...FAKE_FAULT_KINDS, ...FAKE_OPERATIONS]) expect.soft(described).toContain(`\`${word}\``);
  });

  it('a slow reply is awaited up to the timeout', async () => {
    await control.fault('list', { kind: 'slow', delayMs: 50 });
    await control.fault('list', { kind: 'slow', delayMs: 2_000 });
    expect(await provider.list()).toEqual([]);
    await expect(hasty.list()).rejects.toMatchObject({ kind: 'retryable' });
    await struck();
  });

  it('a fault without a count applies until it is cleared', async () => {
    await control.fault('list', { kind: 'rateLimited' }, null);
    for (let call = 0; call < 3; call++) await expect(provider.list()).rejects.toMatchObject({ kind: 'retryable' });
    await control.clearFaults();
    expect(await provider.list()).toEqual([]);
  });

  it('runs on its own clock, which can be advanced and scaled', async () => {
    await provider.start(request('a'));
    await control.clock({ advanceMs: minute });
    expect(await provider.getMachine(request('a').name)).toMatchObject({ state: 'creating' });
    await control.clock({ scale: 1_000 });
    await expect.poll(async () => (await provider.getMachine(request('a').name))?.state).toBe('running');
  });

  it('uses no ref twice, also after a reset: a late terminate meets no newer machine', async () => {
    const { ref } = await provider.start(request('1'));
    await control.reset();
    const later = await provider.start(request('2'));
    expect(later.ref).not.toBe(ref);
    await provider.terminate(ref);
    await control.clock({ advanceMs: 3 * minute });
    expect((await provider.list()).map((machine) => machine.ref)).toEqual([later.ref]);
  });

  it('loses nothing that it answered when it is killed', async () => {
    const names: string[] = [];
    for (const id of ['a', 'b', 'c']) {
      const inFlight = provider.start(request(`${id}-in-flight`)).catch((error: unknown) => error);
      await provider.start(request(id));
      names.push(request(id).name);
      await cloud.kill();
      await inFlight;
      await expect(provider.list()).rejects.toMatchObject({ kind: 'retryable' });
      expect(await provider.readiness()).toMatchObject({ state: 'unavailable' });
      await cloud.restart();
      expect((await provider.list()).map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    }
    const state: unknown = JSON.parse(await readFile(join(dir, 'cloud.json'), 'utf8'));
    expect(state).toHaveProperty('machines');
  });

  it('reports what happened to each machine', async () => {
    const { ref } = await running('a');
    await provider.terminate(ref);
    await control.clock({ advanceMs: minute });
    const { machines, events } = await control.report();
    expect(machines[0]).toMatchObject({ ref, token: 'token-a', state: 'gone' });
    expect([machines[0]!.ranAt, machines[0]!.goneAt]).not.toContain(null);
    expect(events.map(({ operation, outcome }) => `${operation} ${outcome}`)).toEqual(['start done', 'terminate done']);
  });
});

async function openCloud(): Promise<{ cloud: FakeCloudProcess; dir: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'stagi-fake-'));
  return { dir, cloud: await spawnFakeCloud({ statePath: join(dir, 'cloud.json'), port: await freePort() }) };
}

async function closeCloud(cloud: FakeCloudProcess, dir: string): Promise<void> {
  await cloud.kill();
  await rm(dir, { recursive: true });
}
