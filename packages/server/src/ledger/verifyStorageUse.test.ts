import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  aWorkspaceWith,
  type ClockedDatabase,
  changeStorage,
  clockDatabase,
  serversOf,
  storagesOf,
} from '../billing/meteredWorkspace.ts';
import { meterWorkspace } from '../billing/meterWorkspace.ts';
import { syncSegments } from '../billing/segments.ts';
import { createTestDatabase } from '../testing/database.ts';
import { tampered } from './testing/tamper.ts';
import { verifyLedger } from './verify.ts';

const HOUR = 3_600_000_000;

let clocked: ClockedDatabase;
let segment: bigint;

/** Two days of a server and a storage with the same number, resized on the way; the last hours are not covered. */
beforeAll(async () => {
  clocked = await clockDatabase(await createTestDatabase());
  const { db } = clocked;
  const owner = await aWorkspaceWith(db, { credit: 4_000_000n, card: 5_000_000n });
  const [server] = await serversOf(db, owner, 1, { status: 'online', running: 100_000n, machineState: 'running' });
  const [storage] = await storagesOf(db, owner, 1, { pricePerMonth: 73_000_001n });
  expect(storage, 'what tells them apart is their kind').toBe(server);
  await syncSegments(db, server!);
  await changeStorage(db, storage!, { status: 'rented' });
  for (const hours of [0.5, 7.1, 23.99, 24.5, 30, 47, 60]) {
    await clocked.setClock(hours * HOUR);
    if (hours === 24.5) await changeStorage(db, storage!, { pricePerMonth: 146_000_003n });
    await meterWorkspace(db, owner.workspaceId);
  }
  const { rows } = await sql<{ id: bigint }>`select min(id) as id from segment where kind = 'storage'`.execute(db);
  segment = rows[0]!.id;
});
afterAll(() => clocked?.close());

it('finds nothing wrong with what storages were charged, beside a server of the same number', async () => {
  const { findings, counts } = await verifyLedger(clocked.db);
  expect(findings).toEqual([]);
  expect(counts.segments).toBe(3);
  const { rows } = await sql<{ kind: string; days: number; charged: bigint; uncollected: bigint }>`
    select kind, count(*)::int as days, sum(charged)::bigint as charged, sum(uncollected)::bigint as uncollected
    from usage_day group by 1 order by 1`.execute(clocked.db);
  expect(rows.map(({ kind, days }) => [kind, days])).toEqual([
    ['instance', 3],
    ['storage', 3],
  ]);
  for (const { charged } of rows) expect(charged > 0n).toBe(true);
  expect(rows.reduce((all, { uncollected }) => all + uncollected, 0n) > 0n).toBe(true);
});

it('names the storage’s interval that somebody changed', async () => {
  const changes: [string, RegExp][] = [
    [`update segment set price = price # 256 where id = ${segment}`, /segment \d+ it was not charged/],
    [`update segment set price_hours = price_hours # 1 where id = ${segment}`, /segment \d+ it was not charged/],
    [`update segment set charged = charged # 1 where id = ${segment}`, /segment \d+ its charges/],
    [
      `update segment set ended_at = ended_at - interval '1 microsecond' where id = ${segment}`,
      /segment \d+ it was settled at another time/,
    ],
    [
      `update segment_charge set credit = credit # 1 where segment_id = ${segment} and credit > 1`,
      /segment_charge \d+ until/,
    ],
    [`delete from segment_charge where segment_id = ${segment}`, /segment \d+ its charges/],
    [`delete from usage_day where kind = 'storage'`, /usage_day workspace \d+/],
    [`delete from billing_transaction where resource_kind = 'storage'`, /billing_transaction_count workspace \d+/],
  ];
  for (const [statement, expected] of changes)
    await tampered(clocked.db, [statement], async (trx) => {
      const { findings } = await verifyLedger(trx);
      expect
        .soft(findings.map(({ about, id, problem }) => `${about} ${id} ${problem}`).join('\n'), statement)
        .toMatch(expected);
    });
  console.log(`changes of what a storage was charged: n = ${changes.length}`);
});
