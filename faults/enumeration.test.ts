import { expect, it } from 'vitest';
import { runEnumeration, sayEnumeration } from './enumeration.ts';
import { newSeed, seeded } from './random.ts';

// So few samples on a busy machine say little of milliseconds; what differs by a whole hash they do show.
it('no way in tells whether an address has an account', { timeout: 120_000 }, async () => {
  const seed = newSeed();
  console.log(`enumeration: seed ${seed}`);
  expect(sayEnumeration(await runEnumeration(12, seeded(seed)), { gapMs: 60, auc: 0.95 }, console.log)).toEqual([]);
});
