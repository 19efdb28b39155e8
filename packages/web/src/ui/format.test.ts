import { expect, it } from 'vitest';
import { formatAmount, formatBytes, formatDate, formatElapsed, formatHours, formatNumber } from './format.ts';

it('writes dates in the formats of the specification', () => {
  const date = new Date(2026, 2, 5, 7, 9, 3);
  expect(formatDate(date, 'DD.MM.YYYY')).toBe('05.03.2026');
  expect(formatDate(date, 'DD.MM.YYYY HH:mm')).toBe('05.03.2026 07:09');
  expect(formatDate(date, 'HH:mm DD.MM.YYYY')).toBe('07:09 05.03.2026');
  expect(formatDate(date, 'MMMM D, YYYY')).toBe('March 5, 2026');
  expect(formatDate(date, 'MMMM D, YYYY', 'ru')).toBe('марта 5, 2026');
  expect(formatDate('nonsense')).toBe('');
});

it('writes durations in hours as days and hours', () => {
  expect(formatHours(0.5)).toBe('<1h');
  expect(formatHours(1)).toBe('0d 1h');
  expect(formatHours(49.9)).toBe('2d 1h');
  expect(formatHours(null)).toBeNull();
});

it('never shows money as nothing', () => {
  expect(formatAmount('50')).toBe('50.00');
  expect(formatAmount('0.000012')).toBe('0.000012');
  expect(formatAmount('1.23456')).toBe('1.2346');
  expect(formatAmount('1234567.5')).toBe('1,234,567.50');
  expect(formatAmount('-0.5')).toBe('-0.50');
  expect(formatAmount('0')).toBe('0.00');
});

it('writes clocks, sizes and counts', () => {
  expect(formatElapsed(7)).toBe('0:07');
  expect(formatElapsed(3723)).toBe('1:02:03');
  expect(formatBytes(512)).toBe('512 B');
  expect(formatBytes(1.5 * 2 ** 30)).toBe('1.5 GB');
  expect(formatNumber(2.5)).toBe('2.5');
  expect(formatNumber(12_345)).toBe('12,345');
});
