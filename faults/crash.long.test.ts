import { expect, it } from 'vitest';
import { ALL_CRASH_CASES, oneThird } from './crash/crashCases.ts';
import { formatCrashResult, runCrashCases } from './crash/run.ts';
import { newSeed, seeded } from './random.ts';

/** A third of `crash.fault.ts`, which the seed chooses. */
it('leaks and duplicates nothing, wherever the platform crashes', { timeout: 1_000_000 }, async () => {
  const seed = newSeed();
  const result = await runCrashCases(oneThird(seed), seeded(seed), 3);
  console.log(`crash points: seed ${seed}, ${formatCrashResult(result)} (of ${ALL_CRASH_CASES.length})`);
  expect(result).toMatchObject({ missed: [], orphans: 0, duplicates: 0, surprises: [] });
  expect(result.cells).toBeGreaterThan(ALL_CRASH_CASES.length / 3 - 1);
});
