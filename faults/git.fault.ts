/**
 * Pushes are killed with SIGKILL at points spread over the time that one takes: their git processes, or the whole
 * platform. No acknowledged commit is lost, the repository is whole, and nothing is left that refuses the next push.
 * `--n=` kills, `--seed=`.
 */
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { reportGit, runGitKills } from './git.ts';
import { newSeed, option, seeded } from './random.ts';

const seed = newSeed();
const plan = { kills: option('n', 100) };
console.log(`git: seed ${seed}`);
const postgres = await startTestPostgres();
const failures = await runGitKills(plan, seeded(seed), console.log)
  .then((report) => reportGit(plan, report))
  .finally(() => postgres.stop());
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
