/**
 * Half an hour of storms on the link between the platform and a daemon, with wishes in each: no action of Docker that no
 * wish explains, no line missing, the right state within 5 s of the link, a daemon that stays small. `--seconds=`,
 * `--seed=`.
 */
import { runBadLink, showBadLink } from './link/badLinkRun.ts';
import { randomFrom } from './link/random.ts';
import { useShippedDaemon } from './link/shipped.ts';
import { newSeed, option } from './random.ts';

const seed = newSeed();
console.log(`badLink: seed ${seed}`);
await useShippedDaemon();
const result = await runBadLink(randomFrom(seed), option('seconds', 1800));
console.log(showBadLink('badLink', seed, result));
const isSound = result.wrong.length === 0 && result.missing + result.twice === 0;
const isQuick = Math.max(...result.rightAfterLinkMs) <= 5000;
const isSmall = result.rssMax > 0 && result.rssMax <= 150e6;
if (result.actions === 0 || result.lines === 0 || !isSound || !isQuick || !isSmall) process.exit(1);
