/**
 * A million lines at full speed (Docker surely keeps 100 MB of its 3 × 50) while the daemon is killed ten times and the
 * platform three times: each line exactly once, no gap. Then as much as Docker cannot keep while nobody reads: the gap
 * that is shown is exactly what was lost. `--lines=`, `--seed=`.
 */
import { runLines, showLines } from './link/linesRun.ts';
import { runOverflow, showOverflow } from './link/overflowRun.ts';
import { randomFrom } from './link/random.ts';
import { newSeed, option } from './random.ts';

const seed = newSeed();
const kept = await runLines(randomFrom(seed), { lines: option('lines', 1_000_000), daemonKills: 10, platformKills: 3 });
console.log(showLines('lines', seed, kept));
const lost = await runOverflow(randomFrom(seed), option('overflow', 600_000));
console.log(showOverflow('overflow', seed, lost));
const keptAll = kept.stored === kept.lines && kept.missing + kept.twice + kept.outOfOrder + kept.gaps.length === 0;
const killedAll = kept.daemonKills === 10 && kept.platformKills === 3;
if (kept.lines === 0 || !keptAll || !killedAll || !lost.holds) process.exit(1);
