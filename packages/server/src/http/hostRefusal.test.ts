import { afterEach, expect, it, vi } from 'vitest';
import { createHostRefusal } from './hostRefusal.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('tells the log of refused hosts once a minute, and how many there were', () => {
  vi.useFakeTimers();
  const lines: unknown[] = [];
  const log = { warn: (details: unknown) => lines.push(details) };
  const refusalOf = createHostRefusal({ log } as never);
  for (let n = 0; n < 1_000; n += 1) expect(refusalOf(`evil${n}.example`).status).toBe(421);
  expect(lines).toEqual([{ host: 'evil0.example', likeIt: 0 }]);
  vi.advanceTimersByTime(60_000);
  refusalOf('x'.repeat(5_000));
  expect(lines.slice(1)).toEqual([{ host: 'x'.repeat(100), likeIt: 999 }]);
});
