import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { container, createDaemon, slugOf, type TestDaemon } from './testing/daemon.ts';
import { docker, ensureTestImage } from './testing/image.ts';
import { type FakePlatform, startFakePlatform } from './testing/platform.ts';

let platform: FakePlatform;
let daemon: TestDaemon;
let nodes = 9_100_000;

const lines = (id: number) => platform.logs.of(id).lines;
const ended = (id: number, times = 1) =>
  platform.until(`log ${id} has ended`, () => platform.logs.of(id).ends >= times, 300_000);
const numbers = (id: number, stream: 'stdout' | 'stderr') =>
  lines(id).flatMap((line) => (line.stream === stream ? [Number(/\d+$/.exec(line.text)?.[0])] : []));
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

beforeAll(() => ensureTestImage());
beforeEach(async () => {
  platform = await startFakePlatform({ node: String(++nodes) });
  daemon = await createDaemon(platform);
  daemon.start();
});
afterEach(async () => {
  await daemon.cleanUp();
  await platform.close();
  expect(platform.logs.faults).toEqual([]);
});

describe('the log of a container', () => {
  it('arrives completely and exactly once despite crashes of the daemon, disconnects and restarts of the platform', async () => {
    const COUNT = 30_000;
    // Both streams at once, so that their records are swapped; pauses, so that kills fall between and into bursts.
    const print = `i=0; while [ $i -lt ${COUNT} ]; do i=$((i+1)); echo out $i; echo err $i >&2; [ $((i % 500)) = 0 ] && sleep 0.1; done`;
    await platform.setDesired([container(1, print)]);
    let disturbed = 0;
    for (let share = 1; share <= 12; share++) {
      await platform.until(`${share}/14 of the lines`, () => lines(1).length >= (2 * COUNT * share) / 14, 60_000);
      if (share % 3 === 0) {
        platform.socket().terminate();
      } else if (share % 3 === 1) {
        await daemon.end('SIGKILL');
        daemon.start();
      } else {
        await platform.close();
        await platform.open();
      }
      disturbed++;
    }
    await ended(1);
    console.log(
      `exactly once: n = ${lines(1).length} lines over ${disturbed} kills and cuts, ${platform.linkCount()} links`,
    );
    expect(numbers(1, 'stdout')).toEqual(upTo(COUNT));
    expect(numbers(1, 'stderr')).toEqual(upTo(COUNT));
    expect(platform.logs.of(1).gaps).toEqual([]);
  });

  it('arrives completely and exactly once while Docker rotates its files', async () => {
    // 125 MB in Docker's files of 50 MB each, no faster than a follower can read.
    const [ROUNDS, BURST] = [125, 2000];
    const burst = `seq -s "${'x'.repeat(400)}\n" $((n*${BURST}+1)) $((n*${BURST}+${BURST}))`;
    const print = `n=0; while [ $n -lt ${ROUNDS} ]; do ${burst}; n=$((n+1)); sleep 0.05; done`;
    await platform.setDesired([container(1, print, { spec: { nanoCpus: 2e9 } })]);
    await ended(1);
    const kept = lines(1).map(({ text }) => Number.parseInt(text, 10));
    expect(kept.filter((value, index) => value !== index + 1)).toEqual([]);
    expect(kept).toHaveLength(ROUNDS * BURST);
    expect(platform.logs.of(1).gaps).toEqual([]);
  });

  it('continues over a stop and a start, and includes what was printed while the daemon was down', async () => {
    const script = 'trap "echo bye; exit 0" TERM; echo hello; while :; do sleep 0.1; done';
    await platform.setDesired([container(1, script)]);
    await platform.until('the first line', () => lines(1).length === 1);
    await platform.setDesired([container(1, script, { gen: 2, state: 'stopped' })]);
    await ended(1);
    expect(lines(1).map(({ text }) => text)).toEqual(['hello', 'bye']);

    await platform.setDesired([container(1, script, { gen: 3 })]);
    await platform.until('the next run', () => lines(1).length === 3);
    await daemon.end('SIGKILL');
    await docker.getContainer(`stagi-${slugOf(1)}`).stop();
    daemon.start();
    await ended(1, 2);
    expect(lines(1).map(({ text }) => text)).toEqual(['hello', 'bye', 'hello', 'bye']);
    expect(platform.logs.byEpoch.size).toBe(1);
  });

  it('of a short-lived container arrives even if it exited before the daemon saw it', async () => {
    await platform.setDesired(upTo(6).map((id) => container(id, `echo only ${id}`)));
    for (const id of upTo(6)) {
      await ended(id);
      expect(lines(id).map(({ text }) => text)).toEqual([`only ${id}`]);
    }
  });

  it('joins the parts of long lines and includes a last line without a line feed', async () => {
    await platform.setDesired([container(1, 'head -c 70000 /dev/zero | tr "\\0" x; echo; echo after; echo -n prompt')]);
    await ended(1);
    const [first, ...rest] = joined(1);
    expect(first).toBe('x'.repeat(70_000));
    expect(rest).toEqual(['after', 'prompt']);
  });

  it('is sent again from a cursor that the platform rewinds to', async () => {
    await platform.setDesired([container(1, 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo n $i; sleep 0.005; done')]);
    await platform.until('some lines', () => lines(1).length > 40);
    platform.logs.rewind(1, 20);
    await ended(1);
    expect(numbers(1, 'stdout')).toEqual(upTo(400));
  });

  it('reaches the platform soon after it was printed', async () => {
    await platform.setDesired([container(1, 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo n $i; sleep 0.01; done')]);
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
    platform.logs.policy.grant = false;
    await platform.setDesired([container(1, flood, { spec: { nanoCpus: 2e9 } })]);
    await platform.until(
      'the container has ended',
      () => platform.inventory()?.containers.find(({ state }) => state === 'exited'),
      300_000,
    );
    const rss = await daemon.rssBytes();
    expect(lines(1).length).toBeGreaterThan(0);
    const begun = performance.now();
    platform.logs.policy.grant = true;
    platform.logs.grantAll();
    await ended(1);
    const kept = lines(1).map(({ text }) => Number.parseInt(text, 10));
    const seconds = (performance.now() - begun) / 1000;
    const { gaps } = platform.logs.of(1);
    const missing = LINES - kept.length;
    console.log(
      `flood: n = ${kept.length} lines kept, ${missing} lost, ${gaps.length} gaps, RSS ${Math.round(rss / 1e6)} MB stalled, ${Math.round((await daemon.rssBytes()) / 1e6)} MB after; caught up at ${Math.round(platform.logs.of(1).cursor.offset / seconds / 1e6)} MB/s`,
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
    await platform.setDesired([
      container(1, 'yes "a line that is printed as fast as it goes, over and over" | head -n 600000', {
        spec: { nanoCpus: 2e9 },
      }),
    ]);
    await platform.until('some lines', () => lines(1).length > 1000);
    platform.socket().pause();
    let highest = 0;
    for (let polls = 0; polls < 20; polls++) {
      highest = Math.max(highest, await daemon.rssBytes());
      await docker.getContainer(`stagi-${slugOf(1)}`).inspect();
    }
    platform.socket().resume();
    await ended(1);
    expect(highest).toBeLessThan(250e6);
    expect(lines(1)).toHaveLength(600_000);
  });
});

/** Lines as a reader sees them: partial records joined. */
function joined(id: number): string[] {
  const whole: string[] = [];
  let open = '';
  for (const { text, partial } of lines(id)) {
    open += text;
    if (partial) continue;
    whole.push(open);
    open = '';
  }
  return open === '' ? whole : [...whole, open];
}
