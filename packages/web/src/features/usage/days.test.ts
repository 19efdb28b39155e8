import { expect, it } from 'vitest';
import { spendByDay } from './days.ts';

const on = (day: string, decimalValue: string) => ({ day, charged: { currency: 'STAGI', decimalValue } });

it('shows days without use between those with some, in order', () => {
  const bars = spendByDay([on('2026-02-27', '1.50'), on('2026-03-02', '0.25')]);
  expect(bars.map(({ label, value }) => [label, value])).toEqual([
    ['27.02.2026', 1.5],
    ['28.02.2026', 0],
    ['01.03.2026', 0],
    ['02.03.2026', 0.25],
  ]);
});

it('shows the newest of many days, and nothing of none', () => {
  expect(spendByDay([])).toEqual([]);
  const bars = spendByDay([on('2025-01-01', '1.00'), on('2026-01-01', '2.00')]);
  expect(bars).toHaveLength(92);
  expect(bars.at(-1)).toMatchObject({ day: '2026-01-01', value: 2 });
});
