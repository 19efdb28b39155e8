/**
 * An hour of guessed passwords and mailed codes from many addresses and browsers, and a flood of stolen passwords,
 * while owners sign in and recover and new people sign up. Counts the guesses that were checked, and whether an honest
 * person was locked out. `--n=` accounts, `--minutes=`, `--floods=` requests of the flood, `--seed=`.
 */
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { newSeed, option, seeded } from './random.ts';
import { reportStuffing, runStuffing } from './stuffing.ts';

const seed = newSeed();
const size = { accounts: option('n', 6), minutes: option('minutes', 60), floods: option('floods', 3_000) };
console.log(`stuffing: seed ${seed}`);
const postgres = await startTestPostgres();
let failures: string[];
try {
  failures = reportStuffing(await runStuffing(size, seeded(seed)), console.log);
} finally {
  await postgres.stop();
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
