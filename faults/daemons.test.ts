import { expect, it } from 'vitest';
import { runHerd } from './daemons.ts';
import { sayHerd } from './daemonsReport.ts';

it('a change reaches 40 daemons at once, and a killed platform has them all back', { timeout: 400_000 }, async () => {
  const report = await runHerd({ daemons: 40, changes: 2, downMs: [0], idleMs: 2_000 }, console.log);
  // The goal of 2 s is that of the full run: here other tests have the machine too.
  expect(sayHerd(report, 10_000)).toEqual([]);
});
