import type { MeasureUnit } from '@stagi/contract/metrics.ts';
import { t } from '../i18n/i18n.ts';
import { formatBytes, formatNumber } from '../ui/format.ts';

/** A figure with its unit. */
export function formatFigure(value: number, unit: MeasureUnit): string {
  switch (unit) {
    case 'cores':
      return t('{{cores}} cores', { cores: formatNumber(value, 2) });
    case 'bytes':
      return formatBytes(value);
    case 'bytes/s':
      return t('{{size}}/s', { size: formatBytes(value) });
    case '%':
      return `${formatNumber(value, 0)} %`;
    case '°C':
      return `${formatNumber(value, 0)} °C`;
    case 'W':
      return `${formatNumber(value, 0)} W`;
  }
}

/** At an axis, where there is little room. */
export function formatTick(value: number, unit: MeasureUnit): string {
  return unit === 'cores' ? formatNumber(value, 2) : formatFigure(value, unit);
}

/** Steps of an axis: sizes are counted in powers of two. */
export const STEPS_OF_BYTES = Array.from({ length: 60 }, (_, n) => 2 ** n);

const two = (value: number): string => String(value).padStart(2, '0');

/** A time at an axis that spans so many seconds. */
export function formatTimeTick(seconds: number, span: number): string {
  const date = new Date(seconds * 1000);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  const day = `${two(date.getDate())}.${two(date.getMonth() + 1)}`;
  if (span <= 600) return `${time}:${two(date.getSeconds())}`;
  if (span <= 2 * 86_400) return time;
  return span <= 10 * 86_400 ? `${day} ${time}` : day;
}
