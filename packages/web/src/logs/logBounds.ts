import { type DateRange, resolveDateRange } from '../ui/dateRange/resolve.ts';

/** The time range of a log, both ends included. Without `to` it is live. */
export interface LogBounds {
  from?: string;
  to?: string;
}

/** A range that ends now or later has no `to`: "the last hour" of a log starts an hour ago and is live. */
export function logBounds(range: DateRange | null, now: Date, timeZone: string): LogBounds {
  if (!range) return {};
  const { start, end } = resolveDateRange(range, { now, timeZone });
  const over = end !== null && Date.parse(end) < now.getTime();
  return { from: start ?? undefined, to: over ? end : undefined };
}
