import { parseDate } from '../../ui/dateRange/fields.ts';
import { browserTimeZone } from '../../ui/dateRange/rangeLabels.ts';
import { endOfDay } from '../../ui/dateRange/zonedTime.ts';

/** Days from now, the end of a given day, or never. */
export type Lifetime = '7' | '30' | '90' | '365' | 'day' | 'never';

const DAY_MS = 86_400_000;

/** When a token created now would expire; null for never, for an invalid day and where nothing is chosen. */
export function lifetimeEnd({ lifetime, day }: { lifetime: Lifetime | null; day: string }): Date | null {
  switch (lifetime) {
    case null:
    case 'never':
      return null;
    case 'day': {
      const date = parseDate(day);
      return date && endOfDay(date, browserTimeZone());
    }
    default:
      return new Date(Date.now() + Number(lifetime) * DAY_MS);
  }
}
