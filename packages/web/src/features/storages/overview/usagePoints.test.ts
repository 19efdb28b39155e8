import { expect, it } from 'vitest';
import { nearestPoint, pointAfterKey } from './usagePoints.ts';

it('finds the point nearest to a moment', () => {
  const times = [100, 200, 400];
  expect([0, 100, 149, 151, 299, 301, 400, 900].map((moment) => nearestPoint(times, moment))).toEqual([
    0, 0, 0, 1, 1, 2, 2, 2,
  ]);
  expect(nearestPoint([100], 5)).toBe(0);
});

it('goes from point to point by key, and not beyond the ends', () => {
  expect(['ArrowLeft', 'ArrowRight', 'Home', 'End'].map((key) => pointAfterKey(key, 1, 3))).toEqual([0, 2, 0, 2]);
  expect([pointAfterKey('ArrowLeft', 0, 3), pointAfterKey('ArrowRight', 2, 3)]).toEqual([0, 2]);
  expect(pointAfterKey('ArrowLeft', -1, 3)).toBe(1);
  expect(pointAfterKey('a', 1, 3)).toBeNull();
});
