import { expect, it } from 'vitest';
import { createRate } from './rate.ts';

it('averages over the last five seconds', () => {
  const rate = createRate();
  for (let second = 0; second <= 10; second += 1) rate.record(second < 5 ? 1_000_000 : 1_000, second * 1000);
  expect(rate.perSecond(10_000)).toBeCloseTo((6 * 1_000) / 5, 0);
});

it('says nothing before it knows, nor after nothing came for long', () => {
  const rate = createRate();
  expect(rate.perSecond(0)).toBe(0);
  rate.record(1_000, 0);
  expect(rate.perSecond(100)).toBe(0);
  expect(rate.perSecond(1_000)).toBe(1_000);
  expect(rate.perSecond(60_000)).toBe(0);
});
