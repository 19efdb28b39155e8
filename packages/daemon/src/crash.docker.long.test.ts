import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DAEMON_CRASH_POINTS } from '@stagi/contract/crashPoints.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { container, createDaemon, slugOf, type TestDaemon } from './testing/daemon.ts';
import { docker, ensureTestImage } from './testing/image.ts';
import { type FakePlatform, startFakePlatform } from './testing/platform.ts';
import { taskContainer } from './testing/taskStore.ts';

const FOREVER = 'trap "exit 0" TERM; while :; do sleep 0.2; done';
const CONVERGED_WITHIN_MS = 30_000;

type Point = (typeof DAEMON_CRASH_POINTS)[number];

/** Kills the daemon (SIGKILL) at every crash point and starts it again: the desired state is reached, nothing twice. */
describe('a daemon killed at', () => {
  let platform: FakePlatform;
  let daemon: TestDaemon;
  let armed: string;
  let ids = 0;
  const hit: Point[] = [];
  const convergedMs: number[] = [];

  beforeAll(async () => {
    await ensureTestImage();
    platform = await startFakePlatform({ node: String(8_000_000 + (process.pid % 100_000)) });
    daemon = await createDaemon(platform, { enrol: false });
    armed = join(daemon.folder, 'armed');
    await writeFile(armed, '');
    daemon.env.STAGI_CRASH_POINT = `@${armed}`;
  });
  afterAll(async () => {
    const p95 = convergedMs.toSorted((a, b) => a - b)[Math.ceil(convergedMs.length * 0.95) - 1];
    console.log(
      `daemon crash points: n = ${hit.length} deaths of ${DAEMON_CRASH_POINTS.length} places, converged p95 ${p95} ms`,
    );
    await daemon?.cleanUp();
    await platform?.close();
  });

  async function dies(point: Point, wish: () => Promise<unknown>): Promise<void> {
    await writeFile(armed, point);
    await wish();
    expect(await daemon.exit(), `how it ends at ${point}`).toBeNull();
    expect(await readFile(armed, 'utf8')).toBe('');
    hit.push(point);
  }

  /** Starts it again and waits for the desired state. */
  async function recovers(what: string, check: () => unknown): Promise<void> {
    const since = Date.now();
    daemon.start();
    await platform.until(what, check, CONVERGED_WITHIN_MS);
    convergedMs.push(Date.now() - since);
  }

  const hellos = () => platform.received.filter(({ type }) => type === 'hello').length;
  const shown = (id: number) => platform.inventory()?.containers.find((one) => one.id === id);
  const is = (id: number, state: string, gen: number) => () => {
    const found = shown(id);
    return found?.state === state && found.gen === gen;
  };
  const inspect = (id: number) => docker.getContainer(`stagi-${slugOf(id)}`).inspect();
  const there = async (id: number) =>
    (await docker.listContainers({ all: true, filters: { name: [`stagi-${slugOf(id)}$`] } })).map(({ Id }) => Id);
  const running = (id: number): DesiredContainer => container(id, FOREVER);

  async function aRunningContainer(): Promise<number> {
    ids += 1;
    const id = ids;
    await platform.setDesired([running(id)]);
    await platform.until(`container ${id} runs`, is(id, 'running', 1), CONVERGED_WITHIN_MS);
    return id;
  }

  it('any crash point of the enrolment enrols with the same file', async () => {
    const file = join(daemon.folder, 'token');
    await writeFile(file, await platform.token());
    const enrol = () => daemon.run('enrol', '--token-file', file, '--allow-cpu', '--allow-any-linux');
    for (const point of ['daemon.enrol.keyStored', 'daemon.enrol.answered'] as const) {
      await writeFile(armed, point);
      expect((await enrol()).code, point).toBeNull();
      expect(await readFile(armed, 'utf8')).toBe('');
      hit.push(point);
    }
    expect(await enrol()).toMatchObject({ code: 0 });
    await recovers('a hello', () => platform.received.find(({ type }) => type === 'hello'));
  });

  const START_POINTS = [
    'daemon.create.begun',
    'daemon.create.done',
    'daemon.start.begun',
    'daemon.start.called',
    'daemon.start.done',
  ] as const;

  it.each(START_POINTS)('%s has one container that was started once', async (point) => {
    ids += 1;
    const id = ids;
    // Stopped first, or the crash point could fire while the start of the previous container is recorded.
    await daemon.end('SIGTERM');
    await dies(point, async () => {
      await platform.setDesired([running(id)]);
      daemon.start();
    });
    const before = point === 'daemon.create.begun' ? null : await inspect(id);
    await recovers(`container ${id} runs`, is(id, 'running', 1));
    expect(await there(id)).toHaveLength(1);
    const after = await inspect(id);
    if (before) expect(after.Id).toBe(before.Id);
    if (before && /called|done/.test(point) && point.startsWith('daemon.start'))
      expect(after.State.StartedAt).toBe(before.State.StartedAt);
  });

  it.each(['daemon.stop.begun', 'daemon.stop.done'] as const)('%s stops the container', async (point) => {
    const id = await aRunningContainer();
    const { Id } = await inspect(id);
    await dies(point, () => platform.setDesired([{ ...running(id), gen: 2, state: 'stopped' }]));
    await recovers(`container ${id} is stopped`, is(id, 'exited', 2));
    expect(await there(id)).toEqual([Id]);
  });

  it.each(['daemon.restart.begun', 'daemon.restart.done'] as const)('%s restarts the container once', async (point) => {
    const id = await aRunningContainer();
    const before = await inspect(id);
    const command = randomUUID();
    await dies(point, () => platform.command({ kind: 'restart', containerId: id }, command));
    const atDeath = await inspect(id);
    const heard = hellos();
    daemon.start();
    await platform.until('a new hello', () => hellos() > heard, CONVERGED_WITHIN_MS);
    await platform.command({ kind: 'restart', containerId: id }, command);
    const since = Date.now();
    const answered = () =>
      platform.received.find((message) => message.type === 'result' && message.commandId === command && message.ok);
    await platform.until('the restart is answered', answered, CONVERGED_WITHIN_MS);
    convergedMs.push(Date.now() - since);
    const after = await inspect(id);
    expect(after.State.Running).toBe(true);
    expect(after.State.StartedAt).not.toBe(before.State.StartedAt);
    if (point === 'daemon.restart.done') expect(after.State.StartedAt).toBe(atDeath.State.StartedAt);
  });

  it.each(['daemon.remove.begun', 'daemon.remove.done'] as const)('%s removes the container', async (point) => {
    const id = await aRunningContainer();
    await dies(point, () => platform.setDesired([{ ...running(id), gen: 2, state: 'absent' }]));
    await recovers(`container ${id} is gone`, () => shown(id) === undefined && platform.connected());
    expect(await there(id)).toEqual([]);
  });

  const RECREATION_POINTS = [
    'daemon.pull.begun',
    'daemon.pull.done',
    'daemon.stop.begun',
    'daemon.stop.done',
    'daemon.remove.begun',
    'daemon.remove.done',
    ...START_POINTS,
  ] as const;

  it.each(RECREATION_POINTS)('%s recreates a changed container once', async (point) => {
    const id = await aRunningContainer();
    const { Id } = await inspect(id);
    const changed = container(id, FOREVER, { gen: 2, specNo: 2, spec: { env: [{ name: 'CHANGED', value: 'yes' }] } });
    await dies(point, () => platform.setDesired([changed]));
    await recovers(`container ${id} runs again`, () => is(id, 'running', 2)() && shown(id)?.specNo === 2);
    expect(await there(id)).toHaveLength(1);
    const after = await inspect(id);
    expect(after.Id).not.toBe(Id);
    expect(after.Config.Env).toContain('CHANGED=yes');
  });

  it.each(['daemon.pull.done', 'daemon.remove.begun', 'daemon.remove.done', 'daemon.create.begun'] as const)(
    '%s leaves a changed container stopped that was stopped',
    async (point) => {
      const id = await aRunningContainer();
      await platform.setDesired([{ ...running(id), gen: 2, state: 'stopped' }]);
      await platform.until(`container ${id} is stopped`, is(id, 'exited', 2), CONVERGED_WITHIN_MS);
      const { Id } = await inspect(id);
      await dies(point, () => platform.setDesired([{ ...running(id), gen: 3, specNo: 2, state: 'stopped' }]));
      const heard = hellos();
      await recovers('the container of before is gone', () => hellos() > heard && shown(id)?.dockerId !== Id);
      const [now] = await there(id);
      // Once it is gone, it is created by its next start.
      if (now) expect((await docker.getContainer(now).inspect()).State.Status).toBe('created');
      await platform.setDesired([{ ...running(id), gen: 4, specNo: 2 }]);
      await platform.until(`container ${id} runs`, () => is(id, 'running', 4)() && shown(id)?.specNo === 2);
      expect(await there(id)).toHaveLength(1);
    },
  );

  const TASK_POINTS = [
    ...START_POINTS,
    'daemon.prepare.begun',
    'daemon.prepare.done',
    'daemon.save.begun',
    'daemon.save.done',
  ] as const;

  it.each(TASK_POINTS)('%s runs a task once and uploads its output', async (point) => {
    const store = platform.tasks.add({ input: [['word', Buffer.from('once')]] });
    ids += 1;
    const id = ids;
    const target = taskContainer(id, 'cat /data/in/word >> out/starts', { token: store.token });
    await daemon.end('SIGTERM');
    await dies(point, async () => {
      await platform.setDesired([target]);
      daemon.start();
    });
    await recovers(`the output of ${id} is there`, () => shown(id)?.task?.phase === 'saved');
    expect(store.output.get('starts')?.toString()).toBe('once');
    expect(shown(id)).toMatchObject({ state: 'exited', exitCode: 0, task: { files: 1, interrupted: false } });
    expect(await there(id)).toHaveLength(1);
  });

  const PAUSE_POINTS = [
    'daemon.pause.begun',
    'daemon.pause.done',
    'daemon.unpause.begun',
    'daemon.unpause.done',
  ] as const;

  it.each(PAUSE_POINTS)('%s has a task frozen and go on', async (point) => {
    const store = platform.tasks.add();
    ids += 1;
    const id = ids;
    const target = taskContainer(id, FOREVER, { token: store.token });
    await platform.setDesired([target]);
    await platform.until(`task ${id} runs`, is(id, 'running', 1), CONVERGED_WITHIN_MS);
    const { StartedAt } = (await inspect(id)).State;
    if (point.startsWith('daemon.unpause')) {
      await platform.setDesired([{ ...target, gen: 2, state: 'paused' }]);
      await platform.until(`task ${id} is frozen`, is(id, 'paused', 2), CONVERGED_WITHIN_MS);
    }
    const state = point.startsWith('daemon.pause') ? 'paused' : 'running';
    await dies(point, () => platform.setDesired([{ ...target, gen: 3, state }]));
    await recovers(`task ${id} is ${state}`, is(id, state, 3));
    expect((await inspect(id)).State.StartedAt).toBe(StartedAt);
  });

  it('every crash point is covered by this test', () => {
    expect([...new Set(hit)].toSorted()).toEqual([...DAEMON_CRASH_POINTS].toSorted());
  });
});
