/**
 * Kills the platform (SIGKILL) at every crash point, with every outcome of the effect in progress, and restarts it: each
 * request takes effect exactly once, and nothing leaks. Then random lifecycles of servers with random faults and crashes.
 * `--lives=200 --lanes=3 --seed=…`, `--third` for a third of the crash points, `--only=terminate` for those of that name.
 */
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { ALL_CRASH_CASES, oneThird } from './crash/crashCases.ts';
import { formatCrashResult, runCrashCases } from './crash/run.ts';
import { formatScheduleResult, runSchedules } from './crash/schedules.ts';
import { newSeed, option, percentile, seeded } from './random.ts';

const seed = newSeed();
const lanes = option('lanes', 3);
const lives = option('lives', 200);
const CONVERGED_WITHIN_MS = 30_000;
const only = process.argv.find((argument) => argument.startsWith('--only='))?.slice(7);
const all = process.argv.includes('--third') ? oneThird(seed) : ALL_CRASH_CASES;
const cells = all.filter(({ point }) => !only || point.includes(only));
console.log(`crash: seed ${seed}, ${cells.length} cells of ${ALL_CRASH_CASES.length}`);

const postgres = await startTestPostgres();
let failed = false;
try {
  const result = await runCrashCases(cells, seeded(seed), lanes);
  console.log(`crash: ${formatCrashResult(result)}`);
  for (const line of [...result.missed, ...result.surprises]) console.log(`  ${line}`);
  const { missed, orphans, duplicates, surprises } = result;
  failed ||= result.cells !== cells.length || missed.length + orphans + duplicates + surprises.length > 0;
  failed ||= percentile(result.convergedMs, 0.95) > CONVERGED_WITHIN_MS;

  if (lives > 0) {
    const chance = await runSchedules(lives, seed, lanes);
    console.log(`schedules: seed ${seed}, ${formatScheduleResult(chance)}`);
    for (const line of chance.surprises) console.log(`  ${line}`);
    failed ||= chance.lives !== lives || chance.orphans + chance.duplicates + chance.surprises.length > 0;
  }
} finally {
  await postgres.stop();
}
process.exit(failed ? 1 : 0);
