import { api } from '@stagi/contract/api.ts';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { restartDelayMs } from './restarts.ts';
import { readyServer } from './testing/readyServer.ts';

const { at, running, view } = readyServer();

const T0 = Date.UTC(2026, 0, 1);
const time = (seconds: number) => new Date(T0 + seconds * 1000).toISOString();

function shows(id: number, more: Partial<ActualContainer>): void {
  at.daemon.inventory.containers = at.daemon.inventory.containers.map((one) =>
    one.id === id ? { ...one, ...more } : one,
  );
  at.daemon.sendInventory();
}
const waits = (exitCode: number, restarts: number, end: number): Partial<ActualContainer> => ({
  ...{ state: 'restarting', exitCode, restarts },
  ...{ startedAt: time(end - 1), finishedAt: time(end) },
});
const runs = (restarts: number, start: number, end: number, lastExitCode?: number): Partial<ActualContainer> => ({
  ...{ state: 'running', exitCode: null, restarts },
  ...{ startedAt: time(start), finishedAt: time(end) },
  ...(lastExitCode !== undefined && { lastExitCode }),
});

describe('a container that its restart policy starts again', () => {
  it.each<[string, Partial<ActualContainer>[], object]>([
    ['waits after its first end', [waits(1, 1, 5)], { count: 1, isLooping: true, exitCode: 1, endedAt: time(5) }],
    [
      'runs again, and tells how it ended',
      [waits(1, 1, 5), runs(1, 6, 5)],
      { count: 1, isLooping: true, exitCode: 1, nextTryAt: null },
    ],
    [
      'ended between two reports, as its agent saw',
      [runs(1, 6, 5, 137)],
      { count: 1, isLooping: true, exitCode: 137, nextTryAt: null },
    ],
    ['ended between two reports, seen by nobody', [runs(2, 6, 5)], { count: 2, isLooping: true, exitCode: null }],
    [
      'ends again and again, each time otherwise',
      [waits(1, 1, 5), waits(139, 2, 7), waits(2, 11, 90)],
      { count: 11, isLooping: true, exitCode: 2, endedAt: time(90) },
    ],
    ['is done each time', [waits(0, 1, 5), waits(0, 4, 9)], { count: 4, isLooping: true, exitCode: 0 }],
    [
      'has an agent that does not count',
      [{ ...waits(3, 1, 5), restarts: undefined }],
      { count: 1, isLooping: true, exitCode: 3 },
    ],
  ])('%s', async (_, reports, expected) => {
    const { id } = await running({ restartPolicy: 'always' });
    for (const report of reports) {
      shows(id, report);
      const isWaiting = report.state === 'restarting';
      await expect
        .poll(async () => {
          const { restarts } = await view(id);
          return [restarts?.endedAt, restarts?.nextTryAt !== null];
        })
        .toEqual([report.finishedAt, isWaiting]);
    }
    const seen = await view(id);
    expect(seen).toMatchObject({ status: 'running', restarts: expected });
    const { entities } = await at.alice.client(api.containers.list, {
      entityFilterRequest: { queryString: seen.slug },
    });
    expect(entities[0]!.restarts).toEqual(seen.restarts);
  });

  it('is steady after a minute, and starts from nothing when somebody starts it', async () => {
    const { id } = await running({ restartPolicy: 'always' });
    shows(id, runs(3, 6, 5, 1));
    await expect.poll(async () => (await view(id)).restarts?.isLooping).toBe(true);
    await sql`update container set looping_until = looping_until - interval '1 minute' where id = ${id}`.execute(
      at.app.ctx.db,
    );
    expect((await view(id)).restarts).toMatchObject({ count: 3, isLooping: false, exitCode: 1 });
    const kept = () =>
      at.app.ctx.db.selectFrom('container').select('looping_until').where('id', '=', id).executeTakeFirstOrThrow();
    await expect.poll(kept).toEqual({ looping_until: null });
    shows(id, { ...runs(0, 70, 65) });
    await expect.poll(async () => (await view(id)).restarts).toBeNull();
  });

  it('is no loop any more once it has ended for good', async () => {
    const { id } = await running({ restartPolicy: 'on-failure' });
    shows(id, waits(1, 2, 5));
    await expect.poll(async () => (await view(id)).restarts?.count).toBe(2);
    shows(id, { state: 'exited', exitCode: 0, restarts: 2, startedAt: time(6), finishedAt: time(7) });
    await expect.poll(async () => await view(id)).toMatchObject({ status: 'exited', restarts: null });
  });
});

describe('the delay before a restart', () => {
  it.each([
    [1, 1, 100],
    [2, 1, 200],
    [5, 1, 1_600],
    [10, 9.9, 51_200],
    [11, 0, 60_000],
    [400, 1, 60_000],
    [400, 10, 100],
    [1, 3_600, 100],
  ])('after restart %i of a run of %f s is %i ms', (restarts, ran, delay) => {
    expect(restartDelayMs(restarts, { startedAt: time(0), finishedAt: time(ran) })).toBe(delay);
  });
});
