import fc from 'fast-check';
import { expect, it } from 'vitest';
import { boxNumber, claimElement, digitsOf, handlesOf, moveHandle, stepOf } from './sliderHandles.ts';

const SCALE = { min: 0, max: 100, step: 1, float: false };

it('takes one number as an upper bound and two as a range', () => {
  expect(handlesOf(30, SCALE)).toEqual([30]);
  expect(handlesOf([30], SCALE)).toEqual([30]);
  expect(handlesOf([70, 20], SCALE)).toEqual([20, 70]);
  expect(handlesOf([-5, 500], SCALE)).toEqual([0, 100]);
});

it('rejects an empty array', () => {
  expect(() => handlesOf([], SCALE)).toThrow('the value is an empty array');
  expect(() => handlesOf([1, 2, 3], SCALE)).toThrow('3 handles, at most 2');
});

it('knows no handle out of range', () => {
  for (const index of [-1, 2, 0.5, Number.NaN]) {
    expect(() => moveHandle([10, 20], index, 15, SCALE), String(index)).toThrow(RangeError);
  }
  expect(() => moveHandle([10], 1, 15, SCALE)).toThrow('no handle 1, it has 1');
});

it('allows one slider on an element, and the next when it is gone', () => {
  const release = claimElement('price');
  expect(() => claimElement('price')).toThrow('there is one on #price already');
  claimElement('size')();
  release();
  const again = claimElement('price');
  release();
  expect(() => claimElement('price')).toThrow();
  again();
});

it('is whole-number unless float is set', () => {
  expect(handlesOf(30.6, SCALE)).toEqual([31]);
  expect(handlesOf(30.6, { ...SCALE, float: true })).toEqual([30.6]);
  expect(stepOf({ step: 0.1, float: false })).toBe(1);
  expect(stepOf({ step: 0.1, float: true })).toBe(0.1);
  expect([1, 0.5, 0.25].map(digitsOf)).toEqual([0, 1, 2]);
});

it('bounds the numeric boxes and commits nothing that is no number', () => {
  expect([-3, 0, 9999, 10_000, '12'].map(boxNumber)).toEqual([0, 0, 9999, 9999, 12]);
  expect(['', '-', Number.NaN].map(boxNumber)).toEqual([null, null, null]);
});

it('keeps handles in order and on the scale, wherever one is moved', () => {
  let count = 0;
  fc.assert(
    fc.property(
      fc.tuple(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), fc.double({ noNaN: true, min: -1e6, max: 1e6 })),
      fc.nat(1),
      fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
      (value, index, to) => {
        count += 1;
        const [from = Number.NaN, till = Number.NaN] = moveHandle(handlesOf(value, SCALE), index, to, SCALE);
        expect(from).toBeLessThanOrEqual(till);
        expect(from).toBeGreaterThanOrEqual(0);
        expect(till).toBeLessThanOrEqual(100);
        expect(Number.isInteger(from) && Number.isInteger(till)).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
  console.log(`slider handles: n = ${count}`);
  expect(count).toBeGreaterThan(0);
});
