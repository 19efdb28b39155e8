import { expect, it } from 'vitest';
import { newSeed, seeded } from './random.ts';
import { runStuffing, sayStuffing } from './stuffing.ts';

it('guessing from many addresses and browsers is slowed down and keeps no owner out', {
  timeout: 400_000,
}, async () => {
  const seed = newSeed();
  console.log(`stuffing: seed ${seed}`);
  const report = await runStuffing({ accounts: 1, minutes: 4, floods: 150 }, seeded(seed));
  expect(sayStuffing(report, console.log)).toEqual([]);
});
