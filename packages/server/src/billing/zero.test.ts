import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { transitionInstance } from '../instances/status.ts';
import { meterDueWorkspaces } from '../metering/worker.ts';
import { enforceZeroBalances } from '../metering/zeroBalance.ts';
import { createTestDatabase } from '../testing/database.ts';
import { aWorkspaceWith, type ClockedDatabase, clockDatabase, credit, serversOf } from './meteredWorkspace.ts';
import { creditedAtZeroBalance, resumeAll } from './zero.ts';

const SECOND = 1_000_000;
const MINUTE_MS = 60_000;
const PRICE = 3_600_000n;
const log = { info() {}, warn() {}, error: console.error } as never;

let clocked: ClockedDatabase;
beforeAll(async () => {
  clocked = await clockDatabase(await createTestDatabase());
});
afterAll(() => clocked?.close());
// Nobody else's servers run in a test.
beforeEach(async () => {
  await sql`update segment set ended_at = metered_until, settled = true where not settled`.execute(clocked.db);
});

const follow = () => enforceZeroBalances({ db: clocked.db, log, providers: new Map() });
const meter = () => meterDueWorkspaces({ db: clocked.db, log }, MINUTE_MS);

const statusOf = async (id: number) => {
  const { rows } = await sql<{ status: string; held: boolean }>`
    select status, zero_stopped_at is not null as held from instance where id = ${id}`.execute(clocked.db);
  return rows[0]!;
};

/** Servers that run from this moment on. */
async function runningFrom(micros: number, ids: readonly number[]): Promise<void> {
  await clocked.setClock(micros);
  for (const id of ids)
    await inTransaction(clocked.db, async (trx) => {
      await sql`update instance set machine_state = 'running', running_seen_at = metering_clock(), desired = 'running'
        where id = ${id}`.execute(trx);
      for (const status of ['creating', 'online']) await transitionInstance({ log }, trx, id, status, {});
    });
}

it('what is left of a reserve starts nothing again, a credit on top of it does', async () => {
  const workspace = await aWorkspaceWith(clocked.db, { credit: 21_000_000n });
  const { workspaceId } = workspace;
  const [cheap] = await serversOf(clocked.db, workspace, 1, { running: PRICE, stopped: PRICE / 10n });
  const [fixed] = await serversOf(clocked.db, workspace, 1, { running: 10n * PRICE, canStop: false });
  const start = 1_000 * SECOND;
  await runningFrom(start, [cheap!, fixed!]);
  // 18 of the 21 are the reserve; 11,000 a second are used.
  await clocked.setClock(start + 273 * SECOND);
  expect(await meter()).toMatchObject([{ charged: 3_003_000n, exhausted: 'now' }]);
  expect(await follow()).toBe(2);
  expect([await statusOf(cheap!), await statusOf(fixed!)]).toEqual([
    { status: 'powering off', held: true },
    { status: 'terminating', held: true },
  ]);

  // Nearly five times what an hour of the other one costs.
  expect(await creditedAtZeroBalance(clocked.db)).toEqual([]);
  expect(await resumeAll(clocked.db, workspaceId)).toBe(false);
  for (const tick of [300, 400]) {
    await clocked.setClock(start + tick * SECOND);
    await meter();
    expect(await creditedAtZeroBalance(clocked.db)).toEqual([]);
  }
  await credit(clocked.db, workspaceId, 'onchain', 1n);
  expect(await creditedAtZeroBalance(clocked.db)).toEqual([workspaceId]);
  await clocked.setClock(start + 500 * SECOND);
  await meter();
  expect(await creditedAtZeroBalance(clocked.db)).toEqual([workspaceId]);
  expect(await resumeAll(clocked.db, workspaceId)).toBe(true);
});

it('counts the reserve of what still runs: a credit between the charge and the stop resumes nothing that it cannot pay', async () => {
  const workspace = await aWorkspaceWith(clocked.db, { credit: 21_000_000n });
  const { workspaceId } = workspace;
  const [cheap] = await serversOf(clocked.db, workspace, 1, { running: PRICE, stopped: PRICE / 10n });
  const [fixed] = await serversOf(clocked.db, workspace, 1, { running: 10n * PRICE, canStop: false });
  const start = 50_000 * SECOND;
  await runningFrom(start, [cheap!, fixed!]);
  await clocked.setClock(start + 273 * SECOND);
  expect(await meter()).toMatchObject([{ charged: 3_003_000n, exhausted: 'now' }]);
  // With it 39.997 are there: an hour of both costs 39.6, and 18 more must be kept for the one that cannot stop.
  await credit(clocked.db, workspaceId, 'onchain', 22_000_000n);
  expect(await resumeAll(clocked.db, workspaceId), 'the reserve was not counted').toBe(false);
  await follow();
  expect([await statusOf(cheap!), await statusOf(fixed!)]).toEqual([
    { status: 'powering off', held: true },
    { status: 'terminating', held: true },
  ]);
  // What runs no longer needs no reserve.
  expect(await resumeAll(clocked.db, workspaceId)).toBe(true);
});

it('settles what zero has ended with the next look, so that a credit after it pays for none of it', async () => {
  const workspace = await aWorkspaceWith(clocked.db, { credit: 10_000n });
  const [id] = await serversOf(clocked.db, workspace, 1, { running: PRICE });
  const start = 100_000 * SECOND;
  await runningFrom(start, [id!]);
  await clocked.setClock(start + 12 * SECOND);
  expect(await meter()).toMatchObject([{ charged: 10_000n, uncollected: 2_000n, exhausted: 'now' }]);
  await clocked.setClock(start + 15 * SECOND);
  await follow();
  expect(await statusOf(id!)).toEqual({ status: 'powering off', held: true });
  await clocked.setClock(start + 20 * SECOND);
  expect(await meter()).toMatchObject([{ charged: 0n, uncollected: 3_000n }]);
  expect(await meter()).toEqual([]);
});
