import { DATE_MASK, DEFAULT_END_TIME, DEFAULT_START_TIME, TIME_MASK } from '../kitConstants.ts';
import { instantOf, utcOf, type WallDate, type WallTime } from './zonedTime.ts';

/** What is typed into the picker: dates as DD/MM/YYYY, times as HH:mm. */
export interface RangeFields {
  startDate: string;
  startTime: string;
  endDate: string;
  endTime: string;
}

export type FieldName = keyof RangeFields;

export const NO_FIELDS: RangeFields = { startDate: '', startTime: '', endDate: '', endTime: '' };

export type FieldsVerdict =
  | { is: 'empty' }
  | { is: 'wrong'; fields: ReadonlySet<FieldName> }
  | { is: 'valid'; start: Date; end: Date };

/** The rules of section 5: both dates or neither, both strict, the start strictly before the end. */
export function checkFields(typed: RangeFields, timeZone: string): FieldsVerdict {
  if (Object.values(typed).every((value) => value === '')) return { is: 'empty' };
  const wrong = new Set<FieldName>();
  const start = wallOf(typed.startDate, typed.startTime || DEFAULT_START_TIME);
  const end = wallOf(typed.endDate, typed.endTime || DEFAULT_END_TIME);
  if (!parseDate(typed.startDate)) wrong.add('startDate');
  if (!parseDate(typed.endDate)) wrong.add('endDate');
  if (typed.startTime !== '' && !parseTime(typed.startTime)) wrong.add('startTime');
  if (typed.endTime !== '' && !parseTime(typed.endTime)) wrong.add('endTime');
  if (!start || !end) return { is: 'wrong', fields: wrong };
  const from = instantOf(start, timeZone);
  const to = instantOf(end, timeZone);
  // Compares instants too: around a skipped hour the later clock time may be the earlier instant.
  if (utcOf(start) < utcOf(end) && from < to) return { is: 'valid', start: from, end: to };
  const sameDay = typed.startDate === typed.endDate;
  return { is: 'wrong', fields: new Set(sameDay ? ['startTime', 'endTime'] : ['startDate', 'endDate']) };
}

/** Strictly DD/MM/YYYY and a day that exists; otherwise null. */
export function parseDate(typed: string): WallDate | null {
  const [, day, month, year] = (/^(\d{2})\/(\d{2})\/(\d{4})$/.exec(typed) ?? []).map(Number);
  if (!day || !month || !year || month > 12 || day > daysIn(year, month)) return null;
  return { year, month, day };
}

/** Strictly HH:mm, 00:00 to 23:59; otherwise null. */
export function parseTime(typed: string): Pick<WallTime, 'hour' | 'minute'> | null {
  const found = /^(\d{2}):(\d{2})$/.exec(typed);
  const hour = Number(found?.[1]);
  const minute = Number(found?.[2]);
  return found && hour < 24 && minute < 60 ? { hour, minute } : null;
}

export const MASK: Record<FieldName, string> = {
  startDate: DATE_MASK,
  startTime: TIME_MASK,
  endDate: DATE_MASK,
  endTime: TIME_MASK,
};

function wallOf(date: string, time: string): WallTime | null {
  const day = parseDate(date);
  const clock = parseTime(time);
  return day && clock ? { ...day, ...clock, second: 0, millisecond: 0 } : null;
}

/** The day before the first of the next month. */
function daysIn(year: number, month: number): number {
  const clock = { hour: 0, minute: 0, second: 0, millisecond: 0 };
  return new Date(utcOf({ year, month: month + 1, day: 0, ...clock })).getUTCDate();
}
