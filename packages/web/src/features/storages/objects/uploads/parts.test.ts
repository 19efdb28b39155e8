import fc from 'fast-check';
import { expect, it } from 'vitest';
import { partsOf, resumePlan } from './parts.ts';

const MIB = 1024 * 1024;
const stored = (partNumber: number, sizeBytes: number) => ({ partNumber, sizeBytes, etag: `e${partNumber}` });

it('cuts a file into parts that meet', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 1, max: 999 }), (size, partBytes) => {
      const parts = partsOf(size, partBytes);
      expect(parts[0]?.start).toBe(0);
      expect(parts.at(-1)?.end).toBe(size);
      parts.forEach((part, at) => {
        expect(part.number).toBe(at + 1);
        expect(part.end - part.start).toBeLessThanOrEqual(partBytes);
        if (at > 0) expect(part.start).toBe(parts[at - 1]?.end);
      });
    }),
  );
});

it('goes on with the parts that are stored', () => {
  const plan = resumePlan(20 * MIB, [stored(1, 8 * MIB), stored(3, 4 * MIB)]);
  expect(plan?.partBytes).toBe(8 * MIB);
  expect(plan?.stored.map(({ number }) => number)).toEqual([1, 3]);
});

it('sends a part of another size again', () => {
  expect(resumePlan(20 * MIB, [stored(1, 8 * MIB), stored(2, 7 * MIB)])?.stored.map(({ number }) => number)).toEqual([
    1,
  ]);
});

it('does not resume a file that ends before a stored part', () => {
  expect(resumePlan(9 * MIB, [stored(1, 8 * MIB), stored(3, 8 * MIB)])).toBeNull();
});

it('needs to know the size of a part', () => {
  expect(resumePlan(20 * MIB, [])).toBeNull();
  expect(resumePlan(20 * MIB, [], 8 * MIB)).toEqual({ partBytes: 8 * MIB, stored: [] });
  expect(resumePlan(20 * MIB, [stored(1, MIB)])).toBeNull();
});
