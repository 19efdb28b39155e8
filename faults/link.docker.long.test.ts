import { expect, it } from 'vitest';
import { formatBadLink, runBadLink } from './link/badLinkRun.ts';
import { formatLines, runLines } from './link/linesRun.ts';
import { randomFrom } from './link/random.ts';
import { formatStalled, runStalled } from './link/stalledRun.ts';
import { newSeed } from './random.ts';

/**
 * Short versions of `npm run faults`, with a limit for the daemon run from its source: the built one of the full runs
 * needs less memory.
 */
const SOURCE_RSS = 250e6;
/** Longer than the timeouts of the runs, which have better messages. */
const timeout = 500_000;

it('stores each line exactly once while daemon and platform are killed', { timeout }, async () => {
  const seed = newSeed();
  console.log(`lines: seed ${seed}`);
  const result = await runLines(randomFrom(seed), { lines: 30_000, daemonKills: 2, platformKills: 1 });
  console.log(formatLines('lines', seed, result));
  expect(result).toMatchObject({ stored: 30_000, missing: 0, twice: 0, outOfOrder: 0, gaps: [] });
  expect([result.daemonKills, result.platformKills]).toEqual([2, 1]);
});

it('causes no action without a request and loses no line under network faults', { timeout }, async () => {
  const seed = newSeed();
  console.log(`badLink: seed ${seed}`);
  const result = await runBadLink(randomFrom(seed), 15);
  console.log(formatBadLink('badLink', seed, result));
  expect(result.wrong).toEqual([]);
  expect(result.actions).toBeGreaterThan(0);
  expect(result.lines).toBeGreaterThan(0);
  expect([result.missing, result.twice]).toEqual([0, 0]);
  expect(result.rssMax).toBeLessThan(SOURCE_RSS);
});

it('bounds memory and does not slow the container down under backpressure of a stalled platform', {
  timeout,
}, async () => {
  const result = await runStalled(4);
  console.log(formatStalled('stalled', result));
  expect(result.printed).toBeGreaterThan(0);
  expect([result.unmarked, result.disorder]).toEqual([0, 0]);
  expect(Math.max(result.rssMax, result.rssCatchUpMax)).toBeLessThan(SOURCE_RSS);
  // So short a measurement says little about speed on a busy machine, but a blocked container would print almost
  // nothing.
  expect(Math.min(result.noCreditMBs, result.deafMBs)).toBeGreaterThan(0.1 * result.slowerBaselineMBs);
});
