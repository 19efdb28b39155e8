import { HOURS_PER_MONTH } from '@stagi/contract/storageRules.ts';

/** An interval of one price, as it is stored; times in microseconds of the database's clock. */
export interface Interval {
  /** Of a server, or of a storage where the rate is `size`. */
  resourceId: number;
  rate: 'running' | 'stopped' | 'size';
  /** For so many hours: 1 of a server, 730 of a storage. */
  price: bigint;
  priceHours: number;
  /** Counted against the balance while the interval is open. */
  reserve: bigint;
  startUs: bigint;
  endUs: bigint | null;
  /** The amount of it that was charged or written off. */
  booked: bigint;
}

/** A moment at which the accounts of a workspace were locked; nothing was paid into them afterwards. */
export interface Opening {
  atUs: bigint;
  balance: bigint;
  /** The amount of all intervals that was charged or written off by then. */
  booked: bigint;
}

const HOUR_US = 3_600_000_000n;
export const MONTH_US = BigInt(HOURS_PER_MONTH) * HOUR_US;

/** What an open interval costs in 730 hours: a whole number, whichever hours its price is for. */
export const perMonthOf = ({ price, priceHours }: Interval): bigint =>
  (price * BigInt(HOURS_PER_MONTH)) / BigInt(priceHours);

/** What an interval owes until a moment. */
export function owedUntil({ price, priceHours, startUs, endUs }: Interval, us: bigint): bigint {
  const until = endUs !== null && endUs < us ? endUs : us;
  return until > startUs ? (price * (until - startUs)) / (HOUR_US * BigInt(priceHours)) : 0n;
}

/**
 * When the balance was used up, or used up except for the reserve. Computed from starts, ends and prices alone, not
 * from when a worker noticed it. Microseconds, rounded up; `null`: never.
 */
export function usedUpAt(intervals: readonly Interval[], { atUs, balance, booked }: Opening): bigint | null {
  const owing = intervals.reduce((sum, interval) => sum + owedUntil(interval, atUs), 0n) - booked;
  let available = balance - owing;
  let from = atUs;
  for (const to of [...changesAfter(intervals, atUs), null]) {
    const open = intervals.filter(({ startUs, endUs }) => startUs <= from && (endUs === null || endUs > from));
    const reserve = open.reduce((sum, interval) => sum + interval.reserve, 0n);
    const perMonth = open.reduce((sum, interval) => sum + perMonthOf(interval), 0n);
    if (available <= reserve) return from;
    if (perMonth > 0n) {
      const us = ((available - reserve) * MONTH_US + perMonth - 1n) / perMonth;
      if (to === null || from + us <= to) return from + us;
      available -= (perMonth * (to - from)) / MONTH_US;
    }
    if (to === null) return null;
    from = to;
  }
  return null;
}

function changesAfter(intervals: readonly Interval[], us: bigint): bigint[] {
  const moments = intervals.flatMap(({ startUs, endUs }) => (endUs === null ? [startUs] : [startUs, endUs]));
  return [...new Set(moments.filter((moment) => moment > us))].toSorted((a, b) => (a < b ? -1 : 1));
}
