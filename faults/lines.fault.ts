/**
 * A million lines at full speed (Docker keeps at least 100 MB) while the daemon is killed ten times and the platform
 * three times: each line is stored exactly once, without a gap. Then more than Docker keeps, without a running daemon:
 * the reported gap is exactly what was lost. `--lines=`, `--seed=`.
 */
import { formatLines, runLines } from './link/linesRun.ts';
import { formatOverflow, runOverflow } from './link/overflowRun.ts';
import { randomFrom } from './link/random.ts';
import { newSeed, option } from './random.ts';

const seed = newSeed();
const kept = await runLines(randomFrom(seed), { lines: option('lines', 1_000_000), daemonKills: 10, platformKills: 3 });
console.log(formatLines('lines', seed, kept));
const lost = await runOverflow(randomFrom(seed), option('overflow', 600_000));
console.log(formatOverflow('overflow', seed, lost));
const keptAll = kept.stored === kept.lines && kept.missing + kept.twice + kept.outOfOrder + kept.gaps.length === 0;
const killedAll = kept.daemonKills === 10 && kept.platformKills === 3;
if (kept.lines === 0 || !keptAll || !killedAll || !lost.holds) process.exit(1);
