import { createTestDatabase } from '@stagi/server/src/testing/database.ts';
import { expect, it } from 'vitest';
import { type Interval, usedUpAt } from './exhaustion/arithmetic.ts';
import { runExhaustion } from './exhaustion/run.ts';
import { reportExhaustion } from './exhaustionReport.ts';
import { newSeed, seeded } from './random.ts';

it('stops all servers and charges nothing twice when balances run out while workers are killed', {
  timeout: 600_000,
}, async () => {
  const seed = newSeed();
  console.log(`exhaustion: seed ${seed}`);
  const database = await createTestDatabase();
  const plan = {
    orders: [
      { stoppable: 4, fixed: 0, isCredited: false },
      { stoppable: 1, fixed: 3, isCredited: false },
      { stoppable: 2, fixed: 0, isCredited: true },
    ],
    workers: 2,
    killEveryMs: [500, 2_000],
    ambushes: 1,
    lastsMs: [2_000, 4_000],
    creditAfterMs: [-500, 2_000],
    env: { METERING_SECONDS: '1' },
  } as const;
  try {
    // Speed is measured on a quiet machine only.
    expect(reportExhaustion(await runExhaustion(database, plan, seeded(seed), console.log), null)).toEqual([]);
  } finally {
    await database.drop();
  }
});

const S = 1_000_000n;
const server = (start: bigint, end: bigint | null, perSecond: bigint, reserve = 0n): Interval => ({
  resourceId: 1,
  rate: 'running',
  price: perSecond * 3_600n,
  priceHours: 1,
  reserve,
  startUs: start * S,
  endUs: end === null ? null : end * S,
  booked: 0n,
});

it('computes when a balance is used up from starts, ends and prices', () => {
  const from = { atUs: 100n * S, balance: 1_000n, booked: 0n };
  expect(usedUpAt([server(100n, null, 10n)], from)).toBe(200n * S);
  expect(usedUpAt([server(90n, null, 10n)], { ...from, booked: 60n })).toBe(196n * S);
  expect(usedUpAt([server(100n, null, 10n), server(150n, 160n, 40n)], from)).toBe(160n * S);
  expect(usedUpAt([server(100n, 120n, 10n), server(130n, null, 10n)], from)).toBe(210n * S);
  expect(usedUpAt([server(100n, null, 10n, 300n)], from)).toBe(170n * S);
  expect(usedUpAt([server(100n, 150n, 10n)], from)).toBe(null);
  const storage: Interval = { ...server(100n, null, 0n), rate: 'size', price: 730n * 3_600n * 10n, priceHours: 730 };
  expect(usedUpAt([storage], from)).toBe(200n * S);
  expect(usedUpAt([storage, server(100n, null, 10n)], from)).toBe(150n * S);
});
