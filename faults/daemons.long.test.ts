import { expect, it } from 'vitest';
import { runHerd } from './daemons.ts';
import { reportHerd } from './daemonsReport.ts';

it('delivers a change to 40 daemons at once, and all reconnect after a crash of the platform', {
  timeout: 400_000,
}, async () => {
  const report = await runHerd({ daemons: 40, changes: 2, downMs: [0], idleMs: 2_000 }, console.log);
  // The goal of 2 s is for the full run: here other tests run at the same time.
  expect(reportHerd(report, 10_000)).toEqual([]);
});
