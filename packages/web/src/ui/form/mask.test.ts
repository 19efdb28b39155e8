import { expect, it } from 'vitest';
import { DATE_MASK, TIME_MASK } from '../kitConstants.ts';
import { maskCaret, maskText } from './mask.ts';

it('puts digits in their places and the signs between them', () => {
  const cases = [
    [DATE_MASK, '', ''],
    [DATE_MASK, '3', '3'],
    [DATE_MASK, '31', '31'],
    [DATE_MASK, '311', '31/1'],
    [DATE_MASK, '31/12/2026', '31/12/2026'],
    [DATE_MASK, '31.12.2026 at noon', '31/12/2026'],
    [DATE_MASK, '311220269', '31/12/2026'],
    [DATE_MASK, 'none', ''],
    [TIME_MASK, '0930', '09:30'],
    [TIME_MASK, '09:', '09'],
  ] as const;
  for (const [mask, typed, masked] of cases) expect(maskText(mask, typed), typed).toBe(masked);
});

it('masks what is masked already to itself', () => {
  for (const typed of ['1', '12', '12/3', '12/34/5678']) expect(maskText(DATE_MASK, typed)).toBe(typed);
});

it('keeps the cursor behind the digit it was behind', () => {
  expect(maskCaret(DATE_MASK, '3112', 3)).toBe(4);
  expect(maskCaret(DATE_MASK, '9931/12', 2)).toBe(2);
  expect(maskCaret(DATE_MASK, 'ab', 2)).toBe(0);
});
