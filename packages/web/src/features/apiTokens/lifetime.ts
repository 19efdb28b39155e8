import { parseDate } from '../../ui/dateRange/fields.ts';
import { ownTimeZone } from '../../ui/dateRange/words.ts';
import { endOfDay } from '../../ui/dateRange/zonedTime.ts';

/** Days from now, to the end of a day that is typed, or for ever. */
export type Lifetime = '7' | '30' | '90' | '365' | 'day' | 'never';

const DAY_MS = 86_400_000;

/** When a token made now would expire; `null` for ever, and for a day that is none. */
export function lifetimeEnd({ lifetime, day }: { lifetime: Lifetime; day: string }): Date | null {
  switch (lifetime) {
    case 'never':
      return null;
    case 'day': {
      const date = parseDate(day);
      return date && endOfDay(date, ownTimeZone());
    }
    default:
      return new Date(Date.now() + Number(lifetime) * DAY_MS);
  }
}
