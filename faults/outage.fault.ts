/**
 * PostgreSQL is killed 10 times and then away, and frozen, for 30 s each while people use the platform without a pause:
 * no answer is wrong, nothing that was answered is lost or there twice, the process never ends, and it is back within
 * 10 s of PostgreSQL. `--n=` kills, `--away=` seconds, `--seed=`.
 */

import { runOutage } from './outage.ts';
import { newSeed, option, seeded } from './random.ts';
import { sayUse } from './useReport.ts';

const seed = newSeed();
const kills = option('n', 10);
const awayMs = option('away', 30) * 1000;
console.log(`outage: seed ${seed}, ${kills} kills, away for ${awayMs / 1000} s`);
const report = await runOutage({ kills, awayMs }, seeded(seed), console.log);
const failures = sayUse('outage', report);
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
