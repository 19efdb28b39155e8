import { expect, it } from 'vitest';
import { runOutage } from './outage.ts';
import { newSeed, seeded } from './random.ts';
import { sayUse } from './useReport.ts';

it('PostgreSQL dies and goes away under use: no wrong answer, no end, back in time', { timeout: 400_000 }, async () => {
  const seed = newSeed();
  console.log(`outage: seed ${seed}`);
  expect(sayUse('outage', await runOutage({ kills: 2, awayMs: 2_000 }, seeded(seed), console.log))).toEqual([]);
});
