/**
 * Tasks on several servers, while their daemons and the platform are killed with SIGKILL and the network between them is
 * cut. Each ran exactly once or says why not, its output is what it wrote, and nothing is left. `--n=` tasks,
 * `--servers=`, `--daemonKills=`, `--platformKills=`, `--cuts=`, `--seed=`.
 */
import { randomFrom } from './link/random.ts';
import { newSeed, option } from './random.ts';
import { runTasks } from './tasks/run.ts';
import { reportTasks } from './tasksReport.ts';

const seed = newSeed();
const plan = {
  servers: option('servers', 3),
  tasks: option('n', 200),
  calm: option('calm', 40),
  daemonKills: option('daemonKills', 30),
  platformKills: option('platformKills', 12),
  cuts: option('cuts', 12),
};
console.log(`tasks: seed ${seed}`);
const START_WITHIN_MS = 1_000;
const report = await runTasks(plan, randomFrom(seed), console.log);
const failures = reportTasks('tasks', seed, plan, report, START_WITHIN_MS);
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
