import { describe, expect, it } from 'vitest';
import { openPace } from './pace.ts';

/** A link that stores so many bytes a second, after a fixed delay; carries what the pace allows for so many seconds. */
function carry(bytesPerSecond: number, delayMs: number, seconds: number) {
  let now = 0;
  const pace = openPace(() => now);
  const under: { bytes: number; storedAt: number }[] = [];
  let freeAt = 0;
  let stored = 0;
  let longest = 0;
  for (; now < seconds * 1000; now += 10) {
    while (under[0] && under[0].storedAt <= now) {
      const { bytes } = under.shift()!;
      stored += bytes;
      pace.done(bytes, true);
    }
    for (let room = pace.room(); room > 0; room = pace.room()) {
      const bytes = Math.min(room, 64 * 1024);
      freeAt = Math.max(freeAt, now) + (bytes / bytesPerSecond) * 1000;
      under.push({ bytes, storedAt: freeAt + delayMs });
      pace.sent(bytes);
      if (under.length > 64) break;
    }
    // What a control message would wait for, once the pace has had time to learn.
    if (now > (seconds * 1000) / 2) longest = Math.max(longest, freeAt - now);
  }
  return { share: stored / (bytesPerSecond * seconds), longest };
}

describe('the pace of a link', () => {
  it.each([
    [1_000, 0],
    [4_000, 100],
    [64_000, 200],
    [1_000_000, 20],
  ])('at %d bytes a second fills the link and keeps it free for what matters', (rate, delay) => {
    const { share, longest } = carry(rate, delay, 240);
    expect(share).toBeGreaterThan(0.6);
    expect(longest).toBeLessThan(5000);
  });

  it('gives back what need not be waited for', () => {
    const pace = openPace(() => 0);
    const free = pace.room();
    pace.sent(free);
    expect(pace.room()).toBe(0);
    pace.done(free, false);
    expect(pace.room()).toBe(free);
  });
});
