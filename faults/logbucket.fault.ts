/**
 * Containers print lines while the platform, which copies them to the log bucket of their server, is killed with SIGKILL:
 * at the crash points of a chunk and at any time. Each line is in the bucket once. `--n=` lines, `--kills=`, `--seed=`.
 */
import { runLogBucket } from './logBucket/run.ts';
import { reportLogBucket } from './logBucketReport.ts';
import { newSeed, option, seeded } from './random.ts';

const seed = newSeed();
const plan = { lines: option('n', 1_000_000), kills: option('kills', 10) };
console.log(`logbucket: seed ${seed}`);
const failures = reportLogBucket(plan, await runLogBucket(plan, seeded(seed), console.log));
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
