/** A moment as a clock on the wall shows it. `month` counts from 1; a `day` beyond its month runs on into the next. */
export interface WallTime {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
}

export type WallDate = Pick<WallTime, 'year' | 'month' | 'day'>;

const DAY_MS = 86_400_000;

/** What the clocks of an IANA time zone show at a moment. */
export function wallTimeAt(instant: Date, timeZone: string): WallTime {
  const shown = new Date(instant.getTime() + offsetAt(instant.getTime(), timeZone));
  return {
    year: shown.getUTCFullYear(),
    month: shown.getUTCMonth() + 1,
    day: shown.getUTCDate(),
    hour: shown.getUTCHours(),
    minute: shown.getUTCMinutes(),
    second: shown.getUTCSeconds(),
    millisecond: shown.getUTCMilliseconds(),
  };
}

/**
 * The moment at which the clocks of a zone show a time. A time that comes twice is the first of the two; one that is
 * skipped moves on by as much as was skipped (RFC 5545, and `compatible` of ECMAScript's Temporal).
 */
export function instantOf(wall: WallTime, timeZone: string): Date {
  const asUtc = utcOf(wall);
  const before = offsetAt(asUtc - DAY_MS, timeZone);
  const after = offsetAt(asUtc + DAY_MS, timeZone);
  const fitting = [before, after].map((offset) => asUtc - offset).filter((at) => at + offsetAt(at, timeZone) === asUtc);
  return new Date(fitting.length > 0 ? Math.min(...fitting) : asUtc - before);
}

/** The first moment of a day, which is not midnight where clocks are put forward at midnight. */
export function startOfDay({ year, month, day }: WallDate, timeZone: string): Date {
  return instantOf({ year, month, day, hour: 0, minute: 0, second: 0, millisecond: 0 }, timeZone);
}

/** The last millisecond of a day, also of one whose last hour comes twice. */
export function endOfDay({ year, month, day }: WallDate, timeZone: string): Date {
  return new Date(startOfDay({ year, month, day: day + 1 }, timeZone).getTime() - 1);
}

/** Milliseconds since 1970 as if the clock were in UTC. */
export function utcOf(wall: WallTime): number {
  const date = new Date(0);
  // Date.UTC takes the years 0 to 99 for those of the 20th century.
  date.setUTCFullYear(wall.year, wall.month - 1, wall.day);
  return date.setUTCHours(wall.hour, wall.minute, wall.second, wall.millisecond);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Milliseconds by which the zone's clocks are ahead of UTC. */
function offsetAt(instant: number, timeZone: string): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatFor(timeZone).formatToParts(instant)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const millisecond = ((instant % 1000) + 1000) % 1000;
  return utcOf({ year, month, day, hour, minute, second, millisecond }) - instant;
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timeZone, format);
  return format;
}
