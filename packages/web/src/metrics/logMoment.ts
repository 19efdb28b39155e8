import { browserTimeZone } from '../ui/dateRange/rangeLabels.ts';
import { rangeToText } from '../ui/dateRange/rangeText.ts';
import { rangeFromFields } from '../ui/dateRange/resolve.ts';
import { wallTimeAt } from '../ui/dateRange/zonedTime.ts';

const AROUND_MS = 60_000;

/** The query that shows the log around a stretch of time, from a minute before to a minute after. */
export function logQueryAround(startMs: number, endMs: number, timeZone = browserTimeZone()): string {
  const [startDate, startTime] = shown(startMs - AROUND_MS, timeZone);
  const [endDate, endTime] = shown(endMs + AROUND_MS, timeZone);
  const range = rangeToText(rangeFromFields({ startDate, startTime, endDate, endTime }));
  return new URLSearchParams({ range }).toString();
}

/** As the date picker writes them: `DD/MM/YYYY` and `HH:mm`. */
function shown(ms: number, timeZone: string): [string, string] {
  const { year, month, day, hour, minute } = wallTimeAt(new Date(ms), timeZone);
  const two = (value: number) => String(value).padStart(2, '0');
  return [`${two(day)}/${two(month)}/${year}`, `${two(hour)}:${two(minute)}`];
}
