/**
 * Neither the text nor the time of an answer shows whether an address has an account: 300 known and 300 unknown
 * addresses in turn at each endpoint, from many source addresses, with the rate limits on. `--n=`, `--seed=`.
 */
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { reportEnumeration, runEnumeration } from './enumeration.ts';
import { newSeed, option, seeded } from './random.ts';

const seed = newSeed();
const n = option('n', 300);
console.log(`enumeration: seed ${seed}`);
const postgres = await startTestPostgres();
let failures: string[];
try {
  failures = reportEnumeration(await runEnumeration(n, seeded(seed)), { gapMs: 5, auc: 0.6 }, console.log);
} finally {
  await postgres.stop();
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
