/**
 * An hour of guessing at passwords and mailed codes from many addresses and browsers, and a flood of stolen passwords,
 * while the owners sign in and recover and new people sign up: how many guesses are looked at, and whether anybody
 * honest is kept out. `--n=` accounts, `--minutes=`, `--floods=` requests of the flood, `--seed=`.
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
