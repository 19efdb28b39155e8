import { cronFault } from '@stagi/contract/cronRules.ts';
import { text } from '@stagi/contract/text.ts';
import { Cron } from 'croner';
import { invalid } from '../http/errors.ts';

/** A wall-clock time in an IANA time zone, at most once a minute. */
export interface Timetable {
  cron: string;
  timeZone: string;
}

/** Refuses what is no timetable, or has no time left, at its field. Answers its first time after `now`. */
export function requireTimetable(timetable: Timetable, now: Date): Date {
  if (!isTimeZone(timetable.timeZone)) throw invalid(text('This time zone is not known'), 'timeZone');
  const fault = cronFault(timetable.cron);
  if (fault) throw invalid(fault.template, 'cron', fault.values);
  let next: Date | null;
  try {
    next = nextTime(timetable, now);
  } catch (error) {
    // Croner throws these for a pattern that it cannot read, and nothing else. The rules above leave it none.
    if (error instanceof TypeError || error instanceof RangeError) throw notFiveFields();
    throw error;
  }
  if (!next) throw invalid(text('This time never comes'), 'cron');
  return next;
}

/** The first time after `now`; null: there is none. */
export function nextTime({ cron, timeZone }: Timetable, now: Date): Date | null {
  return new Cron(cron, { mode: '5-part', timezone: timeZone, paused: true }).nextRun(now);
}

const notFiveFields = () =>
  invalid(text('Enter five fields: minute, hour, day of the month, month, day of the week'), 'cron');

function isTimeZone(name: string): boolean {
  // Offsets are no places: they know no summer time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
