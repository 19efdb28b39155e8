import { api } from '@stagi/contract/api.ts';
import { expect, it } from 'vitest';
import { readyServer } from '../containers/testing/readyServer.ts';
import { line, openLog } from './testing/shipped.ts';
import { openTail } from './testing/tail.ts';

const { at, running } = readyServer();

it('tells the runs of a container with its lines: when each began, how it ended, which lines are of it', async () => {
  const { id } = await running();
  const second = 1_000_000_000n;
  const begun = Date.now();
  const shows = (more: Partial<(typeof at.daemon.inventory.containers)[0]>) => {
    at.daemon.inventory.containers = at.daemon.inventory.containers.map((one) => ({ ...one, ...more }));
    at.daemon.sendInventory();
  };
  const timeAt = (seconds: number) => new Date(begun + seconds * 1000).toISOString();
  const print = (seconds: bigint, text: string) =>
    line(text, { timeNs: BigInt(begun) * 1_000_000n + seconds * second });
  const query = (more = {}) =>
    at.alice.client(api.logging.query, { source: { type: 'docker-container', id }, ...more });

  const log = await openLog(at.daemon, id);
  await log.print(print(1n, 'first'), print(2n, 'crash'));
  const tail = await openTail(at.app, at.alice, id, 0);
  await tail.until((heard) => heard.length === 2);
  expect((await query()).runs).toMatchObject([{ number: 1, endedAt: null, exitCode: null }]);

  shows({ state: 'restarting', exitCode: 3, finishedAt: timeAt(4) });
  await expect.poll(async () => (await query()).runs).toMatchObject([{ number: 1, endedAt: timeAt(4), exitCode: 3 }]);
  shows({ state: 'running', exitCode: null, startedAt: timeAt(6) });
  await expect.poll(async () => (await query()).runs).toHaveLength(2);
  // Docker restarted it once more, and the inventory shows only the last start.
  shows({ startedAt: timeAt(20), finishedAt: timeAt(18) });
  await expect.poll(async () => (await query()).runs).toHaveLength(3);
  await log.print(print(5n, 'again'), print(17n, 'again until 18'), print(21n, 'third'));

  const { runs, lines } = await query();
  expect(runs).toMatchObject([
    { number: 1, exitCode: 3 },
    { number: 2, startedAt: timeAt(6), endedAt: timeAt(18), exitCode: null },
    { number: 3, startedAt: timeAt(20), endedAt: null, exitCode: null },
  ]);
  const numberOf = (time: string) => runs.findLast(({ linesFrom }) => linesFrom <= time)?.number;
  expect(lines.map(({ text, time }) => [text, numberOf(time)])).toEqual([
    ['first', 1],
    ['crash', 1],
    ['again', 2],
    ['again until 18', 2],
    ['third', 3],
  ]);
  // A page of older lines has the runs of its lines, a search those of what it finds.
  expect((await query({ cursor: { before: 3 } })).runs.map(({ number }) => number)).toEqual([1]);
  expect((await query({ text: 'third' })).runs.map(({ number }) => number)).toEqual([2, 3]);
  expect((await query({ text: 'crash', mode: 'regex' })).runs.map(({ number }) => number)).toEqual([1]);

  await tail.until((heard) => heard.length === 5);
  const heard = tail.received.flatMap((message) => (message.type === 'lines' ? (message.runs ?? []) : []));
  expect(new Set(heard.map(({ number }) => number))).toEqual(new Set([1, 2, 3]));
  tail.socket.close();
});
