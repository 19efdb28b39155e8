import { describe, expect, it } from 'vitest';
import { startLoop } from './loop.ts';
import { backoffMs } from './timing.ts';

describe('the retry backoff', () => {
  it('lies between 1 s and a growing bound', () => {
    expect([0, 1, 2, 9].map((attempt) => backoffMs(attempt, 20_000, () => 1))).toEqual([2000, 4000, 8000, 20_000]);
    expect(backoffMs(9, 20_000, () => 0)).toBe(1000);
  });
});

describe('the loop', () => {
  it('throttles a burst of a thousand wakes to few passes, and does not miss the last one', async () => {
    let passes = 0;
    const loop = startLoop(async () => void passes++, { everyMs: 60_000, gapMs: 20 });
    await loop.nextPass();
    for (let i = 0; i < 1000; i++) loop.wakeThrottled();
    await loop.nextPass();
    expect(passes).toBeLessThanOrEqual(3);
    loop.stop();
  });
});
