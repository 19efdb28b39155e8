/**
 * Half an hour of network faults on the link between the platform and a daemon, with requested changes in each: no action
 * of Docker without a request, no line missing, the desired state within 5 s of a reconnect, bounded memory of the
 * daemon. `--seconds=`, `--seed=`.
 */
import { formatBadLink, runBadLink } from './link/badLinkRun.ts';
import { useBuiltDaemon } from './link/builtDaemon.ts';
import { randomFrom } from './link/random.ts';
import { newSeed, option } from './random.ts';

const seed = newSeed();
console.log(`badLink: seed ${seed}`);
await useBuiltDaemon();
const result = await runBadLink(randomFrom(seed), option('seconds', 1800));
console.log(formatBadLink('badLink', seed, result));
const isSound = result.wrong.length === 0 && result.missing + result.twice === 0;
const isQuick = Math.max(...result.rightAfterLinkMs) <= 5000;
const isSmall = result.rssMax > 0 && result.rssMax <= 150e6;
if (result.actions === 0 || result.lines === 0 || !isSound || !isQuick || !isSmall) process.exit(1);
