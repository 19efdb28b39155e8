import { DatePicker } from '@mantine/dates';
import '@mantine/dates/styles.layer.css';
import { useT } from '../../i18n/i18n.ts';
import classes from './DateRange.module.css';
import { parseDate, type RangeFields } from './fields.ts';
import { wallTimeAt } from './zonedTime.ts';

interface Props {
  fields: RangeFields;
  timeZone: string;
  roomy: boolean;
  onPick(days: Pick<RangeFields, 'startDate' | 'endDate'>): void;
}

/** The typed days in a month, and days to press instead of typing: the first press is the start, the second the end. */
export function RangeCalendar({ fields, timeZone, roomy, onPick }: Props) {
  const t = useT();
  const today = isoOf(wallTimeAt(new Date(), timeZone));
  const start = isoDay(fields.startDate);
  const end = isoDay(fields.endDate);
  const locale = document.documentElement.lang;
  const name = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
    return (day: string) => format.format(new Date(`${day}T00:00:00Z`));
  };
  return (
    <DatePicker
      type="range"
      size={roomy ? 'sm' : 'xs'}
      className={classes.calendar}
      classNames={{ calendarHeaderLevel: classes.level }}
      // A typed start turns the calendar to its month.
      key={start?.slice(0, 7) ?? 'today'}
      defaultDate={start ?? today}
      value={start && end && start > end ? [null, null] : [start, end]}
      onChange={([from, to]) => onPick({ startDate: shownDay(from), endDate: shownDay(to) })}
      allowSingleDateInRange
      firstDayOfWeek={1}
      weekendDays={[]}
      hideOutsideDates
      getDayProps={(day) => ({ 'data-now': day === today || undefined })}
      monthLabelFormat={name({ month: 'long', year: 'numeric' })}
      monthsListFormat={name({ month: 'short' })}
      yearLabelFormat={name({ year: 'numeric' })}
      yearsListFormat={name({ year: 'numeric' })}
      weekdayFormat={name({ weekday: 'short' })}
      getDayAriaLabel={name({ dateStyle: 'full' })}
      ariaLabels={{
        previousMonth: t('Previous month'),
        nextMonth: t('Next month'),
        previousYear: t('Previous year'),
        nextYear: t('Next year'),
        previousDecade: t('Previous ten years'),
        nextDecade: t('Next ten years'),
      }}
    />
  );
}

/** `DD/MM/YYYY` as the calendar's `YYYY-MM-DD`; null for what is no day. */
function isoDay(typed: string): string | null {
  const day = parseDate(typed);
  return day && isoOf(day);
}

function isoOf({ year, month, day }: { year: number; month: number; day: number }): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

function shownDay(iso: string | null): string {
  return iso === null ? '' : iso.slice(0, 10).split('-').reverse().join('/');
}
