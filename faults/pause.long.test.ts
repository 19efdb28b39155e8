import { expect, it } from 'vitest';
import { formatPauseResult, runPauses } from './pause/run.ts';

/** As `pause.fault.ts`, with a lease of a few seconds. */
it('writes nothing stale after a pause longer than its lease (fencing)', { timeout: 400_000 }, async () => {
  const result = await runPauses({ steps: ['rent', 'terminate'], servers: 4, pauseMs: 6_000, leaseS: 2 });
  console.log(`pause: ${formatPauseResult(result)}`);
  expect(result).toEqual({ frozen: 8, takenOver: 8, staleApplies: 0, orphans: 0, duplicates: 0 });
});
