import { NO_FIELDS, parseDate, parseTime } from './fields.ts';
import { QUICK_LINKS } from './quickLinks.ts';
import { type DateRange, rangeFromFields } from './resolve.ts';

const TYPED = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}:\d{2})~(\d{4})-(\d{2})-(\d{2}) (\d{2}:\d{2})$/;

/** A range as one short text, for an address: a quick link's id, or `YYYY-MM-DD HH:mm~YYYY-MM-DD HH:mm`. */
export function rangeToText(range: DateRange | null): string {
  if (!range) return '';
  if (range.unit !== 'range') return range.id;
  return `${turned(range.startDate)} ${range.startTime}~${turned(range.endDate)} ${range.endTime}`;
}

/** Null for what is no range: an address may hold anything. */
export function rangeFromText(text: string, links: readonly DateRange[] = QUICK_LINKS): DateRange | null {
  const quick = links.find(({ id }) => id === text);
  if (quick) return quick;
  const [, year, month, day, startTime = '', endYear, endMonth, endDay, endTime = ''] = TYPED.exec(text) ?? [];
  const startDate = `${day}/${month}/${year}`;
  const endDate = `${endDay}/${endMonth}/${endYear}`;
  const strict = parseDate(startDate) && parseTime(startTime) && parseDate(endDate) && parseTime(endTime);
  return strict ? rangeFromFields({ ...NO_FIELDS, startDate, startTime, endDate, endTime }) : null;
}

/** `DD/MM/YYYY` as `YYYY-MM-DD`. */
function turned(date: string): string {
  return date.split('/').reverse().join('-');
}
