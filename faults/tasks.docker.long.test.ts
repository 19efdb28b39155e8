import { expect, it } from 'vitest';
import { randomFrom } from './link/random.ts';
import { newSeed } from './random.ts';
import { runTasks } from './tasks/run.ts';
import { reportTasks } from './tasksReport.ts';

/** Longer than the timeouts of the run, which have better messages. */
const timeout = 700_000;

it('runs each task exactly once while daemon and platform are killed', { timeout }, async () => {
  const seed = newSeed();
  console.log(`tasks: seed ${seed}`);
  const plan = { servers: 1, tasks: 20, calm: 20, daemonKills: 4, platformKills: 3, cuts: 0 };
  expect(reportTasks('tasks', seed, plan, await runTasks(plan, randomFrom(seed), console.log), null)).toEqual([]);
});
