import { describe, expect, it } from 'vitest';
import { container, slugOf } from './testing/daemon.ts';
import { docker } from './testing/image.ts';
import { aShippingDaemon, upTo } from './testing/shippingDaemon.ts';

const at = aShippingDaemon(9_150_000);
const { lines, numbers, ended } = at;

describe('the log of a container', () => {
  it('arrives completely and exactly once despite crashes of the daemon, disconnects and restarts of the platform', async () => {
    const COUNT = 30_000;
    // Both streams at once, so that their records are swapped; pauses, so that kills fall between and into bursts.
    const print = `i=0; while [ $i -lt ${COUNT} ]; do i=$((i+1)); echo out $i; echo err $i >&2; [ $((i % 500)) = 0 ] && sleep 0.1; done`;
    await at.platform.setDesired([container(1, print)]);
    let disturbed = 0;
    for (let share = 1; share <= 12; share++) {
      await at.platform.until(`${share}/14 of the lines`, () => lines(1).length >= (2 * COUNT * share) / 14, 60_000);
      if (share % 3 === 0) {
        at.platform.socket().terminate();
      } else if (share % 3 === 1) {
        await at.daemon.end('SIGKILL');
        at.daemon.start();
      } else {
        await at.platform.close();
        await at.platform.open();
      }
      disturbed++;
    }
    await ended(1);
    console.log(
      `exactly once: n = ${lines(1).length} lines over ${disturbed} kills and cuts, ${at.platform.linkCount()} links`,
    );
    expect(numbers(1, 'stdout')).toEqual(upTo(COUNT));
    expect(numbers(1, 'stderr')).toEqual(upTo(COUNT));
    expect(at.platform.logs.of(1).gaps).toEqual([]);
  });

  it('arrives completely and exactly once while Docker rotates its files', async () => {
    // 125 MB in Docker's files of 50 MB each, no faster than a follower can read.
    const [ROUNDS, BURST] = [125, 2000];
    const burst = `seq -s "${'x'.repeat(400)}\n" $((n*${BURST}+1)) $((n*${BURST}+${BURST}))`;
    const print = `n=0; while [ $n -lt ${ROUNDS} ]; do ${burst}; n=$((n+1)); sleep 0.05; done`;
    await at.platform.setDesired([container(1, print, { spec: { nanoCpus: 2e9 } })]);
    await ended(1);
    const kept = lines(1).map(({ text }) => Number.parseInt(text, 10));
    expect(kept.filter((value, index) => value !== index + 1)).toEqual([]);
    expect(kept).toHaveLength(ROUNDS * BURST);
    expect(at.platform.logs.of(1).gaps).toEqual([]);
  });

  it('reaches the platform soon after it was printed', async () => {
    await at.platform.setDesired([
      container(1, 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo n $i; sleep 0.01; done'),
    ]);
    await ended(1);
    const waits = lines(1)
      .map(({ timeNs, receivedAt }) => receivedAt - Number(timeNs / 1_000_000n))
      .sort((a, b) => a - b);
    const p95 = waits[Math.floor(waits.length * 0.95)]!;
    console.log(`print to platform: p50 ${waits[waits.length >> 1]} ms, p95 ${p95} ms, n = ${waits.length}`);
    // A stall of the machine delays only the slowest lines; the faster half is late only if lines wait for one another.
    expect(waits[waits.length >> 1]).toBeLessThan(150);
  });
});

describe('backpressure of a slow platform', () => {
  // About 300 MB in Docker's files, which keep 150: the oldest lines must be lost, and the loss must be shown.
  const LINES = 600_000;
  const flood = `seq -s "${'x'.repeat(400)}\n" 1 ${LINES}`;

  it('neither fills memory nor slows the container down, and lines that Docker dropped are reported as a gap', async () => {
    at.platform.logs.policy.grant = false;
    await at.platform.setDesired([container(1, flood, { spec: { nanoCpus: 2e9 } })]);
    await at.platform.until(
      'the container has ended',
      () => at.platform.inventory()?.containers.find(({ state }) => state === 'exited'),
      300_000,
    );
    const rss = await at.daemon.rssBytes();
    expect(lines(1).length).toBeGreaterThan(0);
    const begun = performance.now();
    at.platform.logs.policy.grant = true;
    at.platform.logs.grantAll();
    await ended(1);
    const kept = lines(1).map(({ text }) => Number.parseInt(text, 10));
    const seconds = (performance.now() - begun) / 1000;
    const { gaps } = at.platform.logs.of(1);
    const missing = LINES - kept.length;
    console.log(
      `flood: n = ${kept.length} lines kept, ${missing} lost, ${gaps.length} gaps, RSS ${Math.round(rss / 1e6)} MB stalled, ${Math.round((await at.daemon.rssBytes()) / 1e6)} MB after; caught up at ${Math.round(at.platform.logs.of(1).cursor.offset / seconds / 1e6)} MB/s`,
    );
    expect(rss).toBeLessThan(250e6);
    // In order, without duplicates; lines are missing only where a gap was reported.
    const holes = kept.filter((value, index) => index > 0 && value !== kept[index - 1]! + 1).length;
    expect(holes).toBe(gaps.length);
    expect(holes).toBeGreaterThan(0);
    expect(kept.at(-1)).toBe(LINES);
    expect(new Set(kept).size).toBe(kept.length);
  });

  it('does not fill memory when the platform stops reading the socket', async () => {
    await at.platform.setDesired([
      container(1, 'yes "a line that is printed as fast as it goes, over and over" | head -n 600000', {
        spec: { nanoCpus: 2e9 },
      }),
    ]);
    await at.platform.until('some lines', () => lines(1).length > 1000);
    at.platform.socket().pause();
    let highest = 0;
    for (let polls = 0; polls < 20; polls++) {
      highest = Math.max(highest, await at.daemon.rssBytes());
      await docker.getContainer(`stagi-${slugOf(1)}`).inspect();
    }
    at.platform.socket().resume();
    await ended(1);
    expect(highest).toBeLessThan(250e6);
    expect(lines(1)).toHaveLength(600_000);
  });
});
