import { LOCALE } from '@stagi/contract/languages.ts';
import { fromDecimal, toDecimal } from '@stagi/contract/money.ts';
import { currentLanguage, t } from '../i18n/i18n.ts';

/** How dates, durations, sizes and money are written (specification section 9). Times are the reader's own. */
export type DateFormat = 'DD.MM.YYYY' | 'DD.MM.YYYY HH:mm' | 'HH:mm DD.MM.YYYY' | 'MMMM D, YYYY';

export function formatDate(value: string | Date, format: DateFormat = 'DD.MM.YYYY HH:mm', locale = 'en'): string {
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return '';
  const day = `${two(date.getDate())}.${two(date.getMonth() + 1)}.${date.getFullYear()}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  switch (format) {
    case 'DD.MM.YYYY':
      return day;
    case 'DD.MM.YYYY HH:mm':
      return `${day} ${time}`;
    case 'HH:mm DD.MM.YYYY':
      return `${time} ${day}`;
    case 'MMMM D, YYYY':
      return `${monthName(date, locale)} ${date.getDate()}, ${date.getFullYear()}`;
  }
}

/** A day of a calendar, which is nobody's time zone: `2026-11-22` → `22.11.2026`. */
export const formatDay = (day: string): string => day.split('-').toReversed().join('.');

/** To the second and with its offset, for who needs to compare with a log. */
export function exactTime(value: string | Date): string {
  const date = new Date(value);
  const minutes = -date.getTimezoneOffset();
  const offset = `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
  return `${formatDate(date)}:${two(date.getSeconds())} UTC${offset}`;
}

/** Hours as `Nd Nh`, under one `<1h`, missing 'no data'. */
export function formatHours(hours: number | null | undefined): string {
  if (hours === null || hours === undefined || Number.isNaN(hours)) return t('no data');
  if (hours < 1) return '<1h';
  const whole = Math.floor(hours);
  return `${Math.floor(whole / 24)}d ${whole % 24}h`;
}

/** Seconds as a clock: `0:07`, `12:30`, `1:02:03`. */
export function formatElapsed(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** Bytes in the unit that leaves one to four figures: `512 MB`, `1.5 GB`. Powers of 1024. */
export function formatBytes(bytes: number): string {
  return inUnits(bytes, 1024);
}

/** Bytes as storage sizes count them, in powers of 1000: `512 MB`, `1.5 GB`. */
export function formatDecimalBytes(bytes: number): string {
  return inUnits(bytes, 1000);
}

/** Money with two to four decimals. Smaller amounts keep all six, so that they are never shown as zero. */
export function formatAmount(decimal: string): string {
  const micro = fromDecimal(decimal);
  const size = micro < 0n ? -micro : micro;
  const shown = size < SMALLEST_SHOWN ? size : ((size + SMALLEST_SHOWN / 2n) / SMALLEST_SHOWN) * SMALLEST_SHOWN;
  const text = grouped(toDecimal(shown));
  return micro < 0n ? `-${text}` : text;
}

/** Money with two decimals, rounded down: never more than there is. Less than the last of them is shown as such. */
export function formatAmountFloor(decimal: string): string {
  const micro = fromDecimal(decimal);
  if (micro > 0n && micro < HUNDREDTH) return `< ${grouped(toDecimal(HUNDREDTH))}`;
  return grouped(toDecimal(micro - (micro % HUNDREDTH)));
}

/** Micro-units: the second place. */
const HUNDREDTH = 10_000n;

/** Money to the last of its places, for what is to be added up. */
export const formatExact = (decimal: string): string => grouped(toDecimal(fromDecimal(decimal)));

/** Micro-units: the fourth place. */
const SMALLEST_SHOWN = 100n;

/** `2.5` → `2.5`, in Russian `2,5`; `4` → `4`: for counts that may have a fraction. */
export function formatNumber(value: number, places = 1): string {
  return grouped(trimmed(value, places));
}

const BYTE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

function inUnits(bytes: number, base: 1000 | 1024): string {
  let value = bytes;
  let unit = 0;
  while (value >= base && unit < BYTE_UNITS.length - 1) {
    value /= base;
    unit += 1;
  }
  return `${grouped(trimmed(value, value < 10 && unit > 0 ? 1 : 0))} ${BYTE_UNITS[unit]}`;
}

/** Thousands apart and the fraction marked as in the language shown: `1,234.50`, in Russian `1 234,50`. Keeps every digit. */
function grouped(number: string): string {
  const [whole = '', fraction] = number.split('.');
  const { group, decimal } = signsOf(LOCALE[currentLanguage()]);
  const withGroups = whole.replace(/\B(?=(\d{3})+$)/g, group);
  return fraction === undefined ? withGroups : `${withGroups}${decimal}${fraction}`;
}

interface Signs {
  group: string;
  decimal: string;
}

/** Cached: creating a formatter takes longer than rendering the row that uses it. */
const signs = new Map<string, Signs>();

function signsOf(locale: string): Signs {
  const known = signs.get(locale);
  if (known) return known;
  const parts = new Intl.NumberFormat(locale).formatToParts(10_000.5);
  const sign = (type: string, otherwise: string) => parts.find((part) => part.type === type)?.value ?? otherwise;
  const made = { group: sign('group', ','), decimal: sign('decimal', '.') };
  signs.set(locale, made);
  return made;
}

function trimmed(value: number, places: number): string {
  return String(Number(value.toFixed(places)));
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** As it stands in a date (`марта`); where that is a number (Chinese), as it stands alone (`三月`). */
function monthName(date: Date, locale: string): string {
  const name = new Intl.DateTimeFormat(locale, { month: 'long', day: 'numeric' })
    .formatToParts(date)
    .find((part) => part.type === 'month')?.value;
  return name && !/^\d+$/.test(name) ? name : new Intl.DateTimeFormat(locale, { month: 'long' }).format(date);
}
