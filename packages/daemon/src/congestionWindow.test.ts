import { describe, expect, it } from 'vitest';
import { openCongestionWindow } from './congestionWindow.ts';

/** Simulates a link with a fixed rate and delay, filled as far as the window allows for a number of seconds. */
function carry(bytesPerSecond: number, delayMs: number, seconds: number) {
  let now = 0;
  const pace = openCongestionWindow(() => now);
  const under: { bytes: number; storedAt: number }[] = [];
  let freeAt = 0;
  let stored = 0;
  let longest = 0;
  for (; now < seconds * 1000; now += 10) {
    while (under[0] && under[0].storedAt <= now) {
      const { bytes } = under.shift()!;
      stored += bytes;
      pace.acknowledged(bytes, true);
    }
    for (let room = pace.available(); room > 0; room = pace.available()) {
      const bytes = Math.min(room, 64 * 1024);
      freeAt = Math.max(freeAt, now) + (bytes / bytesPerSecond) * 1000;
      under.push({ bytes, storedAt: freeAt + delayMs });
      pace.sent(bytes);
      if (under.length > 64) break;
    }
    // The delay of a control message, once the window has adapted.
    if (now > (seconds * 1000) / 2) longest = Math.max(longest, freeAt - now);
  }
  return { share: stored / (bytesPerSecond * seconds), longest };
}

describe('the congestion window of a link', () => {
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

  it('frees what was dropped without changing its size', () => {
    const pace = openCongestionWindow(() => 0);
    const free = pace.available();
    pace.sent(free);
    expect(pace.available()).toBe(0);
    pace.acknowledged(free, false);
    expect(pace.available()).toBe(free);
  });
});
