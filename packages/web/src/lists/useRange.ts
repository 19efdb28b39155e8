import { useMinuteEnd } from '../ui/clock.ts';
import { draftFromRange, rangeFromDraft } from '../ui/dateRange/draft.ts';
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
export const RANGE_FILTER = 'range';

/** The stretch of time that narrows a list, kept in its address as it was chosen: "the last hour" stays the last hour. */
export function useRange(list: ListState): RangeState {
  const minuteEnd = useMinuteEnd();
  const timeZone = browserTimeZone();
  const named = rangeFromText(list.filter(RANGE_FILTER));
  const value = named && rangeFromDraft(draftFromRange(named), timeZone) ? named : null;
  const { start, end } = value
    ? resolveDateRange(value, { now: new Date(minuteEnd), timeZone })
    : { start: null, end: null };
  return {
    value,
    set: (range) => list.setFilter(RANGE_FILTER, rangeToText(range)),
    bounds: { from: start ?? undefined, to: end ?? undefined },
  };
}
