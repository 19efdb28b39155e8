/**
 * 1,000 races of 2 to 8 tabs for a token refresh, most of them with a stolen refresh token: no honest user is signed
 * out, and no thief keeps a session. Then access is revoked 100 times in each way: within 2 s calls and port cookies
 * are refused, and open streams end. `--n=` races, `--times=` of each way, `--seed=`.
 */
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { newSeed, option } from './random.ts';
import { runRaces } from './refresh.ts';
import { reportRaces, reportRevocations } from './refreshReport.ts';
import { runRevocations, WITH_PORTS } from './revocation.ts';

const seed = newSeed();
const races = option('n', 1_000);
const times = option('times', 100);
console.log(`refresh: seed ${seed}, ${races} races`);
const postgres = await startTestPostgres();
const app = await startTestApp(WITH_PORTS);
const person = await app.signUp();
const failures = [
  ...reportRaces(await runRaces(app, person.userId, races, seed)),
  ...reportRevocations(await runRevocations(app, await app.signUp(), times)),
];
await app.close();
await postgres.stop();
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
