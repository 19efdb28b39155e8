import { CURRENCY } from '@stagi/contract/brand.ts';
import type { T } from '../../../i18n/i18n.ts';
import { formatAmount, formatNumber } from '../../../ui/format.ts';

/** `12.3 ms`, `1.25 s`: three figures. */
export function secondsText(t: T, seconds: number): string {
  return seconds < 1
    ? t('{{value}} ms', { value: threeFigures(seconds * 1000) })
    : t('{{value}} s', { value: threeFigures(seconds) });
}

/** `10.9 – 17.2 ms`: in the unit of the greater. */
export function secondsRange(t: T, low: number, high: number): string {
  return high < 1
    ? t('{{value}} ms', { value: range(low * 1000, high * 1000) })
    : t('{{value}} s', { value: range(low, high) });
}

export const rateText = (t: T, perSecond: number): string =>
  t('{{value}} tokens/s', { value: threeFigures(perSecond) });

export const rateRange = (t: T, low: number, high: number): string =>
  t('{{value}} tokens/s', { value: range(low, high) });

/** STAGI; a predicted price has no more figures than the prediction. */
export const priceText = (_: T, amount: number): string => `${price(amount)} ${CURRENCY}`;
export const priceRange = (_: T, low: number, high: number): string => `${price(low)} – ${price(high)} ${CURRENCY}`;

const price = (amount: number): string => formatAmount(figures(amount).toFixed(6));
const range = (low: number, high: number): string => `${threeFigures(low)} – ${threeFigures(high)}`;
const figures = (value: number): number => Number(value.toPrecision(3));

export function threeFigures(value: number): string {
  const rounded = figures(value);
  return formatNumber(rounded, rounded >= 100 ? 0 : rounded >= 10 ? 1 : 2);
}
