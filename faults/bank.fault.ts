/**
 * A bank whose tellers and database are killed with SIGKILL while customers deposit, spend, withdraw and take back: no
 * booking is lost or duplicated, and the ledger adds up to the micro-unit. `--n=` kills of tellers, `--databases=` of
 * PostgreSQL, `--seed=`.
 */
import { runBank } from './bank/run.ts';
import { reportBank } from './bankReport.ts';
import { newSeed, option, seeded } from './random.ts';

const seed = newSeed();
const plan = { kills: option('n', 500), databaseKills: option('databases', 10) };
console.log(`bank: seed ${seed}`);
const failures = reportBank(plan, await runBank(plan, seeded(seed), console.log));
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
