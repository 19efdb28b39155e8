import { expect, it } from 'vitest';
import { reportLoad } from './loadReport.ts';
import { runOutage } from './outage.ts';
import { newSeed, seeded } from './random.ts';

it('answers nothing wrong, keeps running and recovers in time when PostgreSQL is killed or unreachable', {
  timeout: 400_000,
}, async () => {
  const seed = newSeed();
  console.log(`outage: seed ${seed}`);
  expect(reportLoad('outage', await runOutage({ kills: 2, awayMs: 2_000 }, seeded(seed), console.log))).toEqual([]);
});
