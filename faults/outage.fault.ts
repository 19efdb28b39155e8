/**
 * PostgreSQL is killed 10 times, then unreachable and then frozen for 30 s each, under constant load: no answer is wrong,
 * nothing that was answered is lost or duplicated, the process never exits, and it recovers within 10 s of PostgreSQL.
 * `--n=` kills, `--away=` seconds, `--seed=`.
 */

import { reportLoad } from './loadReport.ts';
import { runOutage } from './outage.ts';
import { newSeed, option, seeded } from './random.ts';

const seed = newSeed();
const kills = option('n', 10);
const awayMs = option('away', 30) * 1000;
console.log(`outage: seed ${seed}, ${kills} kills, away for ${awayMs / 1000} s`);
const report = await runOutage({ kills, awayMs }, seeded(seed), console.log);
const failures = reportLoad('outage', report);
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
