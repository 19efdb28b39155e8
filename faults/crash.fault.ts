/**
 * The platform is ended as by `kill -9` at every named place, with every outcome of the effect it was about, and
 * started again: what was wished for comes about, nothing is left over, nothing is there twice. Then random lives of
 * servers with random faults and random deaths. `--lives=200 --lanes=3 --seed=…`, `--third` for a third of the places,
 * `--only=terminate` for the places of that name.
 */
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { aThird, EVERY_CELL } from './crash/cells.ts';
import { crashLine, runCells } from './crash/run.ts';
import { runSchedules, scheduleLine } from './crash/schedules.ts';
import { newSeed, option, percentile, seeded } from './random.ts';

const seed = newSeed();
const lanes = option('lanes', 3);
const lives = option('lives', 200);
const CONVERGED_WITHIN_MS = 30_000;
const only = process.argv.find((argument) => argument.startsWith('--only='))?.slice(7);
const all = process.argv.includes('--third') ? aThird(seed) : EVERY_CELL;
const cells = all.filter(({ point }) => !only || point.includes(only));
console.log(`crash: seed ${seed}, ${cells.length} cells of ${EVERY_CELL.length}`);

const postgres = await startTestPostgres();
let failed = false;
try {
  const result = await runCells(cells, seeded(seed), lanes);
  console.log(`crash: ${crashLine(result)}`);
  for (const line of [...result.missed, ...result.surprises]) console.log(`  ${line}`);
  const { missed, orphans, duplicates, surprises } = result;
  failed ||= result.cells !== cells.length || missed.length + orphans + duplicates + surprises.length > 0;
  failed ||= percentile(result.convergedMs, 0.95) > CONVERGED_WITHIN_MS;

  if (lives > 0) {
    const chance = await runSchedules(lives, seed, lanes);
    console.log(`schedules: seed ${seed}, ${scheduleLine(chance)}`);
    for (const line of chance.surprises) console.log(`  ${line}`);
    failed ||= chance.lives !== lives || chance.orphans + chance.duplicates + chance.surprises.length > 0;
  }
} finally {
  await postgres.stop();
}
process.exit(failed ? 1 : 0);
