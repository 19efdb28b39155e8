import type { Money } from '@stagi/contract/price.ts';
import { formatDay } from '../../ui/format.ts';

export interface DayBar {
  /** `2026-11-22`. */
  day: string;
  /** As dates are written. */
  label: string;
  value: number;
}

const DAY_MS = 86_400_000;
/** More bars than this are too thin to be told apart. */
const BARS_MOST = 92;

/** The newest days from the first to the last with costs, including days without any. */
export function spendByDay(days: readonly { day: string; charged: Money }[]): DayBar[] {
  const first = days[0];
  const last = days.at(-1);
  if (!first || !last) return [];
  const known = new Map(days.map(({ day, charged }) => [day, Number(charged.decimalValue)]));
  const end = Date.parse(`${last.day}T00:00:00Z`);
  const start = Math.max(Date.parse(`${first.day}T00:00:00Z`), end - (BARS_MOST - 1) * DAY_MS);
  const bars: DayBar[] = [];
  for (let at = start; at <= end; at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    bars.push({ day, label: formatDay(day), value: Math.max(0, known.get(day) ?? 0) });
  }
  return bars;
}
