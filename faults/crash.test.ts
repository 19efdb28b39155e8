import { expect, it } from 'vitest';
import { aThird, EVERY_CELL } from './crash/cells.ts';
import { crashLine, runCells } from './crash/run.ts';
import { seeded } from './random.ts';

/** As `crash.fault.ts`, a third of it: another one each day. */
it('leaves nothing over wherever the platform dies', { timeout: 1_000_000 }, async () => {
  const seed = Math.floor(Date.now() / 86_400_000);
  const result = await runCells(aThird(seed), seeded(seed), 3);
  console.log(`crash points: seed ${seed}, ${crashLine(result)} (of ${EVERY_CELL.length})`);
  expect(result).toMatchObject({ missed: [], orphans: 0, duplicates: 0, surprises: [] });
  expect(result.cells).toBeGreaterThan(EVERY_CELL.length / 3 - 1);
});
