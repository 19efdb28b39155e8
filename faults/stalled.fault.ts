/**
 * Ten minutes with a platform that grants nothing, then reads nothing, while a container prints 50 MB/s (or what
 * this machine's Docker takes): the daemon stays
 * below 150 MB, the container is not slowed, and no line is missing without a gap. `--seconds=`.
 */
import { useBuiltDaemon } from './link/builtDaemon.ts';
import { formatStalled, runStalled } from './link/stalledRun.ts';
import { option } from './random.ts';

await useBuiltDaemon();
const result = await runStalled(option('seconds', 600));
console.log(formatStalled('stalled', result));
const isSmall = result.rssMax > 0 && Math.max(result.rssMax, result.rssCatchUpMax) <= 150e6;
const isFast = result.ratio >= 0.9;
if (result.printed === 0 || !isSmall || !isFast || result.unmarked + result.disorder > 0) process.exit(1);
