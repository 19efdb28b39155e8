import { expect, it } from 'vitest';
import { runLogBucket } from './logBucket/run.ts';
import { reportLogBucket } from './logBucketReport.ts';
import { newSeed, seeded } from './random.ts';

it('copies each line to the log bucket once when the platform is killed', { timeout: 240_000 }, async () => {
  const seed = newSeed();
  console.log(`logbucket: seed ${seed}`);
  const plan = { lines: 40_000, kills: 3 };
  expect(reportLogBucket(plan, await runLogBucket(plan, seeded(seed), console.log))).toEqual([]);
});
