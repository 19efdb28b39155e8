import { type DateRange, resolveDateRange } from '../../../ui/dateRange/resolve.ts';

/** The stretch of time that a log is read in, both ends included; without `to` it goes on live. */
export interface LogBounds {
  from?: string;
  to?: string;
}

/** A range that reaches to this moment or beyond has no end: "the last hour" of a log begins an hour ago and goes on. */
export function logBounds(range: DateRange | null, now: Date, timeZone: string): LogBounds {
  if (!range) return {};
  const { start, end } = resolveDateRange(range, { now, timeZone });
  const over = end !== null && Date.parse(end) < now.getTime();
  return { from: start ?? undefined, to: over ? end : undefined };
}
