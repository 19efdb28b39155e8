import '../i18n/englishPlurals.ts';
import { LANGUAGES, LOCALE } from '@stagi/contract/languages.ts';
import { expect, it } from 'vitest';
import { showLanguage, startTranslation, t } from '../i18n/i18n.ts';
import {
  formatAmount,
  formatAmountFloor,
  formatBytes,
  formatDate,
  formatElapsed,
  formatHours,
  formatNumber,
} from './format.ts';

it('writes dates in the formats of the specification', () => {
  const date = new Date(2026, 2, 5, 7, 9, 3);
  expect(formatDate(date, 'DD.MM.YYYY')).toBe('05.03.2026');
  expect(formatDate(date, 'DD.MM.YYYY HH:mm')).toBe('05.03.2026 07:09');
  expect(formatDate(date, 'HH:mm DD.MM.YYYY')).toBe('07:09 05.03.2026');
  expect(formatDate(date, 'MMMM D, YYYY')).toBe('March 5, 2026');
  expect(formatDate(date, 'MMMM D, YYYY', 'ru')).toBe('марта 5, 2026');
  expect(formatDate('nonsense')).toBe('');
});

it('writes durations in hours as days and hours', async () => {
  await startTranslation('en');
  expect(formatHours(0.5)).toBe('<1h');
  expect(formatHours(1)).toBe('0d 1h');
  expect(formatHours(49.9)).toBe('2d 1h');
  for (const missing of [null, undefined, Number.NaN]) expect(formatHours(missing)).toBe('no data');
});

it('never shows money as nothing', () => {
  expect(formatAmount('50')).toBe('50.00');
  expect(formatAmount('0.000012')).toBe('0.000012');
  expect(formatAmount('1.23456')).toBe('1.2346');
  expect(formatAmount('1234567.5')).toBe('1,234,567.50');
  expect(formatAmount('-0.5')).toBe('-0.50');
  expect(formatAmount('0')).toBe('0.00');
});

it('never shows more money than there is where it shows two decimals', () => {
  expect(formatAmountFloor('49.9976')).toBe('49.99');
  expect(formatAmountFloor('49.999999')).toBe('49.99');
  expect(formatAmountFloor('50')).toBe('50.00');
  expect(formatAmountFloor('1234567.5')).toBe('1,234,567.50');
  expect(formatAmountFloor('0.009999')).toBe('< 0.01');
  expect(formatAmountFloor('0.01')).toBe('0.01');
  expect(formatAmountFloor('0')).toBe('0.00');
});

it('writes numbers and months as each language does, and all else the same', async () => {
  const date = new Date(2026, 2, 5, 7, 9);
  const written: Record<
    (typeof LANGUAGES)[number],
    [amount: string, number: string, size: string, month: string, missing: string]
  > = {
    en: ['1,234,567.50', '12,345.5', '1.5 GB', 'March 5, 2026', 'no data'],
    cn: ['1,234,567.50', '12,345.5', '1.5 GB', '三月 5, 2026', '无数据'],
    ru: ['1 234 567,50', '12 345,5', '1,5 GB', 'марта 5, 2026', 'нет данных'],
    tr: ['1.234.567,50', '12.345,5', '1,5 GB', 'Mart 5, 2026', 'veri yok'],
  };
  await startTranslation('en');
  for (const language of LANGUAGES) {
    await showLanguage(language);
    const [amount, number, size, month, missing] = written[language];
    expect(plain(formatAmount('1234567.5'))).toBe(amount);
    expect(plain(formatNumber(12_345.5))).toBe(number);
    expect(formatBytes(1.5 * 2 ** 30)).toBe(size);
    expect(formatDate(date, 'MMMM D, YYYY', LOCALE[language])).toBe(month);
    expect(formatDate(date)).toBe('05.03.2026 07:09');
    expect(formatHours(49.9)).toBe('2d 1h');
    expect(formatHours(null)).toBe(missing);
    expect(t('It ended with exit code {{code}}', { code: 1370 })).toContain('1370');
  }
  await showLanguage('en');
});

it('counts in Russian as Russian does', async () => {
  await startTranslation('ru');
  const said = (count: number) => t('{{count}} servers', { count }).replace(/\d+/, '').trim();
  const [one, few, many] = [said(1), said(2), said(5)];
  expect(new Set([one, few, many]).size).toBe(3);
  expect([said(21), said(101)]).toEqual([one, one]);
  expect([said(3), said(24)]).toEqual([few, few]);
  expect([said(11), said(12), said(0), said(100)]).toEqual([many, many, many, many]);
  await showLanguage('en');
});

it('writes clocks, sizes and counts', () => {
  expect(formatElapsed(7)).toBe('0:07');
  expect(formatElapsed(3723)).toBe('1:02:03');
  expect(formatBytes(512)).toBe('512 B');
  expect(formatBytes(1.5 * 2 ** 30)).toBe('1.5 GB');
  expect(formatNumber(2.5)).toBe('2.5');
  expect(formatNumber(12_345)).toBe('12,345');
});

/** With ordinary spaces in place of those that do not break. */
function plain(text: string): string {
  return text.replace(/[\u00a0\u202f]/g, ' ');
}
