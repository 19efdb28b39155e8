import { DEFAULT_END_TIME, DEFAULT_START_TIME } from '../kitConstants.ts';
import { checkFields, type RangeFields } from './fields.ts';
import { endOfDay, instantOf, startOfDay, utcOf, type WallDate, wallTimeAt } from './zonedTime.ts';

export type RangeUnit =
  | 'minute'
  | 'hour'
  | 'day'
  | 'today'
  | 'yesterday'
  | 'before-yesterday'
  | 'week'
  | 'month'
  | 'range'
  | 'all-time';

/** A stretch of time as it is chosen, so that "Last hour" stays the last hour. Only `range` uses its dates. */
export interface DateRange extends RangeFields {
  id: string;
  title: string;
  /** How many units back. */
  value: number;
  unit: RangeUnit;
}

export interface Moment {
  now: Date;
  /** IANA name of the zone whose days, weeks and months count. */
  timeZone: string;
  /** Minutes and hours may count back from here instead of from now. */
  end?: Date;
}

/** UTC ISO times, both included; null where there is no bound. */
export interface ResolvedRange {
  start: string | null;
  end: string | null;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The times of a date range by specification section 9. Throws a RangeError for typed dates that break section 5. */
export function resolveDateRange(range: DateRange, moment: Moment): ResolvedRange {
  const { unit, value } = range;
  switch (unit) {
    case 'all-time':
      return { start: null, end: null };
    case 'range':
      return typed(range, moment.timeZone);
    case 'minute':
      return elapsed(value * MINUTE_MS, moment);
    case 'hour':
      return elapsed(value * HOUR_MS, moment);
    case 'day':
      return daysBack(value, moment);
    case 'today':
    case 'yesterday':
    case 'before-yesterday':
      return wholeDay(value, moment);
    case 'week':
      return period((today) => mondayBefore(today, value), 7, 0, value, moment);
    case 'month':
      return period(({ year, month }) => ({ year, month: month - value, day: 1 }), 0, 1, value, moment);
  }
}

/** The times as the picker shows them: DD/MM/YYYY HH:mm. */
export function shownTime(iso: string, timeZone: string): string {
  const { year, month, day, hour, minute } = wallTimeAt(new Date(iso), timeZone);
  return `${padded(day)}/${padded(month)}/${padded(year, 4)} ${padded(hour)}:${padded(minute)}`;
}

/** Typed dates with the times that stand for empty ones, as they are shown: DD/MM/YYYY HH:mm - DD/MM/YYYY HH:mm. */
export function shownFields({ startDate, startTime, endDate, endTime }: RangeFields): string {
  return `${startDate} ${startTime || DEFAULT_START_TIME} - ${endDate} ${endTime || DEFAULT_END_TIME}`;
}

/** The value of typed dates: an empty start time becomes 00:00 and an empty end time 23:59. */
export function rangeFromFields(fields: RangeFields): DateRange {
  return {
    id: 'range',
    title: '',
    value: 0,
    unit: 'range',
    ...fields,
    startTime: fields.startTime || DEFAULT_START_TIME,
    endTime: fields.endTime || DEFAULT_END_TIME,
  };
}

function typed(fields: RangeFields, timeZone: string): ResolvedRange {
  const verdict = checkFields(fields, timeZone);
  if (verdict.is !== 'valid') throw new RangeError(`Not a date range: ${shownFields(fields)}`);
  return between(verdict.start, verdict.end);
}

function elapsed(length: number, { now, end = now }: Moment): ResolvedRange {
  return between(new Date(end.getTime() - length), end);
}

/** To the same time of day, which may be an hour more or less where clocks were changed. */
function daysBack(days: number, { now, timeZone }: Moment): ResolvedRange {
  if (days === 0) return between(now, now);
  const wall = wallTimeAt(now, timeZone);
  return between(instantOf({ ...wall, day: wall.day - days }, timeZone), now);
}

function wholeDay(daysAgo: number, { now, timeZone }: Moment): ResolvedRange {
  const today = wallTimeAt(now, timeZone);
  const day = { ...today, day: today.day - daysAgo };
  return between(startOfDay(day, timeZone), endOfDay(day, timeZone));
}

function period(
  firstDay: (today: WallDate) => WallDate,
  days: number,
  months: number,
  back: number,
  { now, timeZone }: Moment,
): ResolvedRange {
  const { year, month, day } = firstDay(wallTimeAt(now, timeZone));
  const start = startOfDay({ year, month, day }, timeZone);
  if (back === 0) return between(start, now);
  return between(start, endOfDay({ year, month: month + months, day: day + days - 1 }, timeZone));
}

/** Weeks begin on Monday (ISO 8601), in every language alike. */
function mondayBefore({ year, month, day }: WallDate, weeks: number): WallDate {
  const noon = { year, month, day, hour: 12, minute: 0, second: 0, millisecond: 0 };
  const sinceMonday = (new Date(utcOf(noon)).getUTCDay() + 6) % 7;
  return { year, month, day: day - sinceMonday - 7 * weeks };
}

function between(start: Date, end: Date): ResolvedRange {
  return { start: start.toISOString(), end: end.toISOString() };
}

function padded(value: number, places = 2): string {
  return String(value).padStart(places, '0');
}
