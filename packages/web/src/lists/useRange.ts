import { useMinuteEnd } from '../ui/clock.ts';
import { applied, draftFromRange } from '../ui/dateRange/draft.ts';
import { browserTimeZone } from '../ui/dateRange/rangeLabels.ts';
import { rangeFromText, rangeToText } from '../ui/dateRange/rangeText.ts';
import { type DateRange, resolveDateRange } from '../ui/dateRange/resolve.ts';
import type { ListState } from './useListState.ts';

export interface RangeState {
  value: DateRange | null;
  set(value: DateRange | null): void;
  /** For a call; both included, absent where there is no bound. */
  bounds: { from?: string; to?: string };
}

/** The name of the range in an address: one of the list's `filters`. */
export const RANGE = 'range';

/** The stretch of time that narrows a list, kept in its address as it was chosen: "the last hour" stays the last hour. */
export function useRange(list: ListState): RangeState {
  const minuteEnd = useMinuteEnd();
  const timeZone = browserTimeZone();
  const named = rangeFromText(list.filter(RANGE));
  const value = named && applied(draftFromRange(named), timeZone) ? named : null;
  const { start, end } = value
    ? resolveDateRange(value, { now: new Date(minuteEnd), timeZone })
    : { start: null, end: null };
  return {
    value,
    set: (range) => list.setFilter(RANGE, rangeToText(range)),
    bounds: { from: start ?? undefined, to: end ?? undefined },
  };
}
