import { expect, it } from 'vitest';
import { reportObjects, runObjects } from './objects.ts';
import { newSeed, seeded } from './random.ts';

/** A small part of `objects.fault.ts`. */
it('keeps every acknowledged object, none half, when the S3 service is killed', { timeout: 400_000 }, async () => {
  const seed = newSeed();
  console.log(`objects: seed ${seed}`);
  const plan = { puts: 60, multiparts: 3 };
  expect(reportObjects(plan, await runObjects(plan, seeded(seed), console.log))).toEqual([]);
});
