/**
 * Backups while 20 people write, with the platform, the backup and the restore killed at any point. `--n=` kills of each,
 * `--megabytes=` that are there before, by which the time of a restore is measured, `--seed=`.
 */
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { reportBackups, runBackups } from './backup.ts';
import { newSeed, option, seeded } from './random.ts';

const seed = newSeed();
const plan = { writers: option('writers', 20), kills: option('n', 25), megabytes: option('megabytes', 1_000) };
console.log(`backup: seed ${seed}`);
const postgres = await startTestPostgres();
let failures: string[];
try {
  failures = reportBackups(plan, await runBackups(plan, seeded(seed), console.log));
} finally {
  await postgres.stop();
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
