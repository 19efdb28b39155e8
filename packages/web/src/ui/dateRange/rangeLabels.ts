import type { T } from '../../i18n/i18n.ts';
import { type DateRange, resolveDateRange, shownFields, shownTime } from './resolve.ts';

/** 'Select date', a quick link by its title, or typed dates as DD/MM/YYYY HH:mm. */
export function rangeLabel(value: DateRange | null, t: T): string {
  if (!value) return t('Select date');
  return value.unit === 'range' ? shownFields(value) : t(value.title);
}

/** What a quick link means at this moment: DD/MM/YYYY HH:mm - DD/MM/YYYY HH:mm. */
export function resolvedRangeLabel(value: DateRange | null, timeZone: string, t: T): string {
  if (!value) return '';
  const { start, end } = resolveDateRange(value, { now: new Date(), timeZone });
  return start && end ? `${shownTime(start, timeZone)} - ${shownTime(end, timeZone)}` : t('Any date');
}

/** IANA name of the zone that the browser runs in. */
export function browserTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
