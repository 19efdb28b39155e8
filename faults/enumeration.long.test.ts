import { expect, it } from 'vitest';
import { reportEnumeration, runEnumeration } from './enumeration.ts';
import { newSeed, seeded } from './random.ts';

// On a busy machine these few samples say nothing about milliseconds, but they do say which of two takes longer. By
// chance alone the area is beyond 0.85 once in thousands of runs (3.8 standard deviations of the rank sum); a whole
// hash is found beyond it.
it('no way to sign in reveals whether an address has an account', { timeout: 400_000 }, async () => {
  const seed = newSeed();
  console.log(`enumeration: seed ${seed}`);
  expect(
    reportEnumeration(
      await runEnumeration(20, seeded(seed)),
      { gapMs: Number.POSITIVE_INFINITY, auc: 0.85 },
      console.log,
    ),
  ).toEqual([]);
});
