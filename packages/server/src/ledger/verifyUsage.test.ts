import { MICRO } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aWorkspaceWith, type ClockedDatabase, clockDatabase, serversOf } from '../billing/meteredWorkspace.ts';
import { meterWorkspace } from '../billing/meterWorkspace.ts';
import { syncSegments } from '../billing/segments.ts';
import { createTestDatabase } from '../testing/database.ts';
import { pageOfTransactions } from '../transactions/list.ts';
import { viewTransaction } from '../transactions/view.ts';
import { tampered } from './testing/tamper.ts';
import { verifyLedger } from './verify.ts';

const HOUR = 3_600_000_000;
const PRICE = 1_234_567n;
const MOVES: Record<number, string[]> = { 30: ['powering off', 'stopped'], 47: ['powering on', 'online'] };

let clocked: ClockedDatabase;
let workspace: number;
let server: number;

/** Three days of two servers, one of them stopped in between, metered at odd moments; the last hour is not covered. */
beforeAll(async () => {
  clocked = await clockDatabase(await createTestDatabase());
  const { db } = clocked;
  const owner = await aWorkspaceWith(db, { credit: 90n * MICRO, card: 90n * MICRO });
  workspace = owner.workspaceId;
  const ids = await serversOf(db, owner, 2, { status: 'online', running: PRICE, machineState: 'running' });
  server = ids[0]!;
  for (const id of ids) await syncSegments(db, id);
  for (const hours of [0.5, 7.1, 23.99, 24.5, 30, 47, 60]) {
    await clocked.setClock(hours * HOUR);
    for (const status of MOVES[hours] ?? []) {
      await db.updateTable('instance').set({ status }).where('id', '=', server).execute();
      await syncSegments(db, server);
    }
    await meterWorkspace(db, workspace);
  }
});
afterAll(() => clocked?.close());

it('finds nothing wrong with what was metered', async () => {
  const verdict = await verifyLedger(clocked.db);
  expect(verdict.findings).toEqual([]);
  expect(verdict.counts.segments).toBeGreaterThan(2);
  expect(verdict.counts.charges).toBeGreaterThan(10);
});

it('names the interval that was not charged what its time costs, and the journal that says otherwise', async () => {
  const changes: [string, RegExp][] = [
    ['update segment set charged = charged + 1 where id = 1', /segment 1 its charges/],
    [
      "update segment set metered_until = metered_until - interval '1 second' where id = 1",
      /segment 1 it was not charged/,
    ],
    ['update segment set price = price - 1 where id = 2', /segment 2 it was not charged/],
    [
      'update segment_charge set credit = credit + 1 where segment_id = 1 and credit > 0',
      /segment_charge 1 until .*\n?/,
    ],
    ['update segment_charge set credit = credit + 1 where segment_id = 1 and credit > 0', /journal \d+ the intervals/],
    [
      'update segment_charge set credit = credit - 1, card = card + 1 where segment_id = 1 and credit > 0',
      /journal \d+ the intervals/,
    ],
    ['delete from segment_charge where segment_id = 1', /segment 1 its charges/],
    ['update usage_day set charged = charged - 1', /billing_transaction workspace \d+/],
    ['update usage_day set uncollected = uncollected + 1', /usage_day workspace \d+/],
    // The charge after it does not go on from where the one before it stood.
    [
      'delete from segment_charge where segment_id = 1 and until = (select until from segment_charge where segment_id = 1 order by until offset 1 limit 1)',
      /segment_charge 1 until .* does not go on/,
    ],
  ];
  for (const [statement, expected] of changes)
    await tampered(clocked.db, [statement], async (trx) => {
      const { findings } = await verifyLedger(trx);
      expect
        .soft(findings.map(({ about, id, problem }) => `${about} ${id} ${problem}`).join('\n'), statement)
        .toMatch(expected);
    });
  console.log(`changes of what was metered: n = ${changes.length}`);
});

it('shows use by server and day, each with the intervals it was charged for, adding up to the ledger', async () => {
  const { db } = clocked;
  const request = { orderByField: 'createdAt', orderByDirection: 'asc' as const, page: 1, limit: 100 };
  const { entities } = await pageOfTransactions(db, workspace, { types: ['Spending'] }, request);
  expect(
    entities.map(({ day, resource }) => `${day} ${resource?.id === server ? 'first' : 'second'}`).toSorted(),
  ).toEqual([
    '2026-01-01 first',
    '2026-01-01 second',
    '2026-01-02 first',
    '2026-01-02 second',
    '2026-01-03 first',
    '2026-01-03 second',
  ]);
  const micro = (text: string): bigint => BigInt(Math.round(Number(text) * 1e6));
  let all = 0n;
  for (const { id, amount } of entities) {
    const { segments } = await viewTransaction(db, workspace, id);
    const sum = segments.reduce((total, segment) => total + micro(segment.amount.decimalValue), 0n);
    expect(-sum).toBe(micro(amount.decimalValue));
    all += sum;
  }
  const { rows } = await sql<{
    charged: bigint;
    left: bigint;
  }>`select (select sum(charged)::bigint from segment) as charged,
    (select sum(balance)::bigint from account where client_id = ${workspace}) as left`.execute(db);
  expect(all).toBe(rows[0]!.charged);
  expect(all + rows[0]!.left).toBe(180n * MICRO);
  // The charge over midnight is of the day in which it ends.
  const first = entities.find(({ day, resource }) => day === '2026-01-02' && resource?.id === server)!;
  const { segments } = await viewTransaction(db, workspace, first.id);
  expect(segments.map(({ from, to, seconds }) => [from, to, seconds])).toEqual([
    ['2026-01-01T23:59:24.000Z', '2026-01-02T06:00:00.000Z', 21_636],
  ]);
});
