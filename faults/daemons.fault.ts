/**
 * 500 simulated daemons on one platform: a change reaches all within 2 s, all are back within 30 s of a restart that was
 * asked for, of a kill, and of a kill after which the platform stayed away for a minute. Memory and processor are printed.
 * `--n=` daemons.
 */
import { runHerd } from './daemons.ts';
import { reportHerd } from './daemonsReport.ts';
import { option } from './random.ts';

const daemons = option('n', 500);
const report = await runHerd({ daemons, changes: 5, downMs: [0, 0, 60_000], idleMs: 30_000 }, console.log);
const failures = reportHerd(report);
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
