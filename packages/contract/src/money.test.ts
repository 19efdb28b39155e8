import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fromDecimal, toDecimal } from './money.ts';
import { Money } from './price.ts';

it('writes at least two decimals and loses nothing', () => {
  expect(toDecimal(50_000_000n)).toBe('50.00');
  expect(toDecimal(70_000n)).toBe('0.07');
  expect(toDecimal(1n)).toBe('0.000001');
  expect(toDecimal(-1_500_000n)).toBe('-1.50');
});

it('reads back what it wrote, for any amount', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (micro) => {
      const text = toDecimal(micro);
      expect(fromDecimal(text)).toBe(micro);
      expect(Money.safeParse({ currency: 'STAGI', decimalValue: text }).success).toBe(true);
    }),
  );
});

it.each(['', '1.', '.5', '1e3', '1.0000001', ' 1', '--1', 'NaN'])('refuses %j', (text) => {
  expect(() => fromDecimal(text)).toThrow(RangeError);
});
