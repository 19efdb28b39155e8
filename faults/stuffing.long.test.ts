import { expect, it } from 'vitest';
import { newSeed, seeded } from './random.ts';
import { reportStuffing, runStuffing } from './stuffing.ts';

it('rate-limits guessing from many addresses and browsers without locking owners out', {
  timeout: 400_000,
}, async () => {
  const seed = newSeed();
  console.log(`stuffing: seed ${seed}`);
  const report = await runStuffing({ accounts: 1, minutes: 4, floods: 150 }, seeded(seed));
  expect(reportStuffing(report, console.log)).toEqual([]);
});
