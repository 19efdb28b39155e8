/**
 * The S3 service is killed with SIGKILL again and again while objects are put, whole and in parts, and deleted: every
 * acknowledged object is intact, none is half visible, and the use is exact. `--n=` puts, `--multiparts=`, `--seed=`.
 */
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { reportObjects, runObjects } from './objects.ts';
import { newSeed, option, seeded } from './random.ts';

const seed = newSeed();
const plan = { puts: option('n', 1_000), multiparts: option('multiparts', 50) };
console.log(`objects: seed ${seed}`);
const postgres = await startTestPostgres();
const failures = await runObjects(plan, seeded(seed), console.log)
  .then((report) => reportObjects(plan, report))
  .finally(() => postgres.stop());
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
