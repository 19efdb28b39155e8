import type { RentedStatus } from '@stagi/contract/instances.ts';
import { newSeed } from '@stagi/contract/testing/random.ts';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '../db/pool.ts';
import { transitionInstance } from '../instances/status.ts';
import { createTestDatabase } from '../testing/database.ts';
import { pageOfTransactions } from '../transactions/list.ts';
import { pageOfIntervals, type Range, spentByDay } from '../usage/intervals.ts';
import { aWorkspaceWith, type ClockedDatabase, clockDatabase, credit, serversOf } from './meteredWorkspace.ts';
import { meterWorkspace } from './meterWorkspace.ts';
import { syncSegments } from './segments.ts';

const SECOND = 1_000_000;
const DAY = 86_400 * SECOND;
const log = { warn() {}, error() {}, info() {} } as never;

let clocked: ClockedDatabase;
beforeAll(async () => {
  clocked = await clockDatabase(await createTestDatabase());
});
afterAll(() => clocked?.close());

/** Moves a server at a moment of the clock; `shows`: what its cloud shows of it. */
async function at(micros: number, id: number, status: RentedStatus, shows?: string | null): Promise<void> {
  await clocked.setClock(micros);
  await inTransaction(clocked.db, async (trx) => {
    if (shows !== undefined)
      await sql`update instance set machine_state = ${shows}, running_seen_at =
        case when ${shows === 'running'} then metering_clock() else running_seen_at end where id = ${id}`.execute(trx);
    await transitionInstance({ log }, trx, id, status, {});
  });
}

async function tick(micros: number, workspaceId: number) {
  await clocked.setClock(micros);
  return meterWorkspace(clocked.db, workspaceId);
}

const balanceOf = async (workspaceId: number, kind: 'credit' | 'card'): Promise<bigint> => {
  const { rows } = await sql<{ balance: bigint }>`
    select balance from account where code = ${`workspace:${workspaceId}:${kind}`}`.execute(clocked.db);
  return rows[0]!.balance;
};
const creditOf = (workspaceId: number): Promise<bigint> => balanceOf(workspaceId, 'credit');

it('gives back first what was paid last: of 5 credit and 5 card the 5 that are too much go to the card', async () => {
  const workspace = await aWorkspaceWith(clocked.db, { credit: 5_000_000n, card: 5_000_000n });
  const { workspaceId } = workspace;
  const [id] = await serversOf(clocked.db, workspace, 1, { running: 3_600_000n });
  await at(0, id!, 'creating', 'running');
  await at(0, id!, 'online', 'running');
  // In two charges: the first is of credit alone.
  expect(await tick(2_500 * SECOND, workspaceId)).toMatchObject({ charged: 2_500_000n });
  expect(await tick(10_000 * SECOND, workspaceId)).toMatchObject({ charged: 7_500_000n });
  // It was running for half of that.
  await sql`update instance set running_seen_at = timestamptz '2026-01-01 00:00:00Z' + interval '5000 seconds'
    where id = ${id}`.execute(clocked.db);
  await at(10_001 * SECOND, id!, 'error', null);
  expect(await tick(10_002 * SECOND, workspaceId)).toMatchObject({ refunded: 5_000_000n });
  const balances = { card: await balanceOf(workspaceId, 'card'), credit: await creditOf(workspaceId) };
  expect(balances, 'money of the card came back as credit, or the other way round').toEqual({
    card: 5_000_000n,
    credit: 0n,
  });
});

it('gives all of a creation back that was held at zero, lost meanwhile and then failed', async () => {
  const workspace = await aWorkspaceWith(clocked.db, { credit: 1_000_000n });
  const { workspaceId } = workspace;
  const [id] = await serversOf(clocked.db, workspace, 1);
  await at(0, id!, 'creating', 'creating');
  await at(10 * SECOND, id!, 'creating', 'running');
  await at(40 * SECOND, id!, 'creating', 'running');
  await at(50 * SECOND, id!, 'creating', 'creating');
  expect(await tick(80 * SECOND, workspaceId)).toMatchObject({ charged: 70_000n });
  // A balance of zero holds it while its cloud does not show it running.
  await inTransaction(clocked.db, async (trx) => {
    await sql`update instance set zero_stopped_at = metering_clock() where id = ${id}`.execute(trx);
    await syncSegments(trx, id!);
  });
  expect(await tick(90 * SECOND, workspaceId)).not.toBeNull();
  await at(100 * SECOND, id!, 'creation failed');
  expect(await tick(110 * SECOND, workspaceId)).not.toBeNull();
  expect(await creditOf(workspaceId)).toBe(1_000_000n);
  expect(await tick(170 * SECOND, workspaceId)).toMatchObject({ segments: 0 });
});

it('gives back once what was charged beyond the end of one that was held while it was made, and got ready after all', async () => {
  const workspace = await aWorkspaceWith(clocked.db, { credit: 1_000_000n });
  const { workspaceId } = workspace;
  const [id] = await serversOf(clocked.db, workspace, 1);
  await at(0, id!, 'creating', 'running');
  await at(20 * SECOND, id!, 'creating', 'creating');
  await tick(80 * SECOND, workspaceId);
  await inTransaction(clocked.db, async (trx) => {
    await sql`update instance set zero_stopped_at = metering_clock() where id = ${id}`.execute(trx);
    await syncSegments(trx, id!);
  });
  await tick(90 * SECOND, workspaceId);
  await at(100 * SECOND, id!, 'online', 'running');
  await tick(160 * SECOND, workspaceId);
  // It was shown running at its beginning alone.
  expect(await creditOf(workspaceId)).toBe(1_000_000n);
});

it('shows the use of each day, of any stretch of time and of all of it as one sum, whatever was given back', async () => {
  const seed = newSeed();
  let refunds = 0;
  const offset = (most: number) => fc.integer({ min: 0, max: most });
  const timeline = fc.record({
    start: offset(2 * DAY),
    ticks: fc.array(offset(3 * DAY), { minLength: 1, maxLength: 6 }),
    seen: offset(3 * DAY),
    has: fc.constantFrom(1_000n, 40_000_000n, 10n ** 12n),
    creditAt: fc.option(fc.integer({ min: 0, max: 5 })),
    end: fc.constantFrom<RentedStatus>('error', 'creation failed', 'terminating'),
    cuts: fc.array(offset(6 * DAY), { minLength: 1, maxLength: 3 }),
  });
  const check = async ({
    start,
    ticks,
    seen,
    has,
    creditAt,
    end,
    cuts,
  }: typeof timeline extends fc.Arbitrary<infer T> ? T : never) => {
    const workspace = await aWorkspaceWith(clocked.db, { credit: has / 2n, card: has / 2n });
    const { workspaceId } = workspace;
    const [id] = await serversOf(clocked.db, workspace, 1, { running: 3_600_007n });
    await at(start, id!, 'creating', 'running');
    if (end === 'error') await at(start, id!, 'online', 'running');
    const moments = ticks.toSorted((a, b) => a - b).map((after) => start + after);
    const last = moments.at(-1)!;
    for (const [n, moment] of moments.entries()) {
      if (creditAt === n) await credit(clocked.db, workspaceId, 'onchain', 5_000_000n);
      await tick(moment, workspaceId);
    }
    await sql`update instance set running_seen_at = timestamptz '2026-01-01 00:00:00Z'
      + ${Math.min(start + seen, last)} * interval '1 microsecond' where id = ${id}`.execute(clocked.db);
    await at(last + SECOND, id!, end, null);
    refunds += (await tick(last + 2 * SECOND, workspaceId))!.refunded > 0n ? 1 : 0;

    const request = { orderByField: 'createdAt', orderByDirection: 'desc', page: 1, limit: 10 } as const;
    const { entities } = await pageOfTransactions(clocked.db, workspaceId, {}, request);
    expect(entities.filter(({ amount }) => Number(amount.decimalValue) === 0)).toEqual([]);
    const within = async (range: Range) => {
      const { charged, uncollected, refunded } = (await pageOfIntervals(clocked.db, workspaceId, range, request))
        .totals;
      return { charged, uncollected, refunded };
    };
    const whole = await within({});
    const bounds = cuts.toSorted((a, b) => a - b);
    const parts = await Promise.all(
      [...bounds, null].map((to, n) =>
        within({ from: n === 0 ? undefined : iso(bounds[n - 1]! + 1), to: to === null ? undefined : iso(to) }),
      ),
    );
    for (const key of ['charged', 'uncollected', 'refunded'] as const)
      expect(parts.reduce((sum, part) => sum + part[key], 0n)).toBe(whole[key]);
    for (const { charged } of parts) expect(charged >= 0n).toBe(true);

    const days = new Map((await spentByDay(clocked.db, workspaceId, {})).map(({ day, charged }) => [day, charged]));
    for (let day = 0; day < 6; day += 1) {
      const from = iso(day * DAY);
      const { charged } = await within({ from, to: iso((day + 1) * DAY - 1) });
      expect(days.get(from.slice(0, 10)) ?? 0n).toBe(charged);
    }
    const { rows } = await sql<{ spent: bigint }>`select -coalesce(sum(p.amount), 0)::bigint as spent
      from posting p join account a on a.id = p.account_id join journal j on j.id = p.journal_id
      where a.client_id = ${workspaceId} and j.kind in ('usage', 'refund')`.execute(clocked.db);
    expect(whole.charged).toBe(rows[0]!.spent);
  };
  console.log(`refunds: seed ${seed}`);
  // Charged at midnight for a server that ended 986 µs before, which is less than a micro-STAGI: nothing to give back.
  const almostMidnight = {
    start: 13,
    ticks: [3 * DAY - 13],
    seen: 3 * DAY - 999,
    has: 1_000n,
    creditAt: null,
    cuts: [0],
  };
  await check({ ...almostMidnight, end: 'error' });
  await fc.assert(fc.asyncProperty(timeline, check), { seed, numRuns: 40 });
  console.log(`refunds: n = 40 timelines, ${refunds} with something given back, 0 off`);
  expect(refunds).toBeGreaterThan(0);
});

/** To the microsecond, which dates of JavaScript do not know. */
function iso(micros: number): string {
  const whole = new Date(Date.UTC(2026, 0, 1) + Math.floor(micros / SECOND) * 1_000).toISOString().slice(0, 19);
  return `${whole}.${String(micros % SECOND).padStart(6, '0')}Z`;
}
