/**
 * 500 simulated daemons on one platform: a change reaches all within 2 s, and all are back within 30 s of a requested
 * restart, of a kill, and of a kill with the platform down for a minute. Prints memory and CPU. `--n=` daemons.
 */
import { runHerd } from './daemons.ts';
import { reportHerd } from './daemonsReport.ts';
import { option } from './random.ts';

const daemons = option('n', 500);
const report = await runHerd({ daemons, changes: 5, downMs: [0, 0, 60_000], idleMs: 30_000 }, console.log);
const failures = reportHerd(report);
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
