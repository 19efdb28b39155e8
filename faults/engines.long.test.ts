import { expect, it } from 'vitest';
import { oneThird, QUICK } from './engines/corpus.ts';
import { formatEngines, reportEngines, runEngines } from './engines/run.ts';
import { newSeed } from './random.ts';

/** A third of what `engines.fault.ts` has; the seed chooses which. */
it('answers in time and in little memory, whatever an engine answers', { timeout: 200_000 }, async () => {
  const seed = newSeed();
  const result = await runEngines(oneThird(seed), console.log);
  console.log(`engines: seed ${seed}, ${formatEngines(result)} (of ${QUICK.length} kinds)`);
  expect(reportEngines(result)).toEqual([]);
  expect(result.n).toBeGreaterThan(QUICK.length / 3);
});
