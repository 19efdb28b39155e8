/**
 * 50 slow and 50 greedy clients of one account, and of one address without an account, against every listener: another
 * account's calls, git, S3, terminal and daemon link stay within 3 × their p95 in a control run, in which the same clients
 * attack a second platform on this machine. `--n=` clients of each sort, `--seconds=` under each attack, `--rounds=`,
 * `--pace=` in ms, `--seed=`; `--only=links,code searches` attacks in these ways alone.
 */
import { runNeighbours } from './neighbours.ts';
import { reportNeighbours } from './neighboursReport.ts';
import { newSeed, option } from './random.ts';

const clients = option('n', 50);
const plan = {
  slow: clients,
  greedy: clients,
  paceMs: option('pace', 1_000),
  seconds: option('seconds', 30),
  rounds: option('rounds', 2),
  seed: newSeed(),
  only: process.argv.flatMap((word) => (word.startsWith('--only=') ? word.slice('--only='.length).split(',') : [])),
};
console.log(`neighbours: seed ${plan.seed}`);
const failures = reportNeighbours(plan, await runNeighbours(plan, console.log));
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
