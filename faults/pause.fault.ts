/**
 * A worker is paused with SIGSTOP between a call to the cloud and recording its result, for 60 s, longer than its lease,
 * while another takes over. When it continues, it writes nothing stale (fencing). `--servers=8 --pause=60`
 */
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { EVERY_STEP, formatPauseResult, runPauses } from './pause/run.ts';
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
  console.log(`pause: ${formatPauseResult(result)}`);
  failed =
    result.frozen === 0 ||
    result.takenOver !== result.frozen ||
    result.staleApplies + result.orphans + result.duplicates > 0;
} finally {
  await postgres.stop();
}
process.exit(failed ? 1 : 0);
