/**
 * A worker is stopped with SIGSTOP between its call of the cloud and the writing down of it, for 60 s, while another
 * goes on; then it is let go: it writes nothing that is stale. `--servers=8 --pause=60`
 */
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { EVERY_STEP, pauseLine, runPauses } from './pause/run.ts';
import { option } from './random.ts';

const postgres = await startTestPostgres();
let failed = false;
try {
  const result = await runPauses({
    steps: EVERY_STEP,
    servers: option('servers', 8),
    pauseMs: option('pause', 60) * 1000,
    leaseS: 30,
  });
  console.log(`pause: ${pauseLine(result)}`);
  failed =
    result.frozen === 0 ||
    result.takenOver !== result.frozen ||
    result.staleApplies + result.orphans + result.duplicates > 0;
} finally {
  await postgres.stop();
}
process.exit(failed ? 1 : 0);
