import { text } from '@stagi/contract/text.ts';
import { NO_FIELDS } from './fields.ts';
import type { DateRange, RangeUnit } from './resolve.ts';

/** The ranges offered by name, from short to long. Titles are English; they are translated where they are shown. */
export const QUICK_LINKS: readonly DateRange[] = [
  link('last-15-minutes', text('Last 15 minutes'), 15, 'minute'),
  link('last-hour', text('Last hour'), 1, 'hour'),
  link('last-6-hours', text('Last 6 hours'), 6, 'hour'),
  link('last-24-hours', text('Last 24 hours'), 24, 'hour'),
  link('last-7-days', text('Last 7 days'), 7, 'day'),
  link('last-30-days', text('Last 30 days'), 30, 'day'),
  link('today', text('Today'), 0, 'today'),
  link('yesterday', text('Yesterday'), 1, 'yesterday'),
  link('before-yesterday', text('The day before yesterday'), 2, 'before-yesterday'),
  link('this-week', text('This week'), 0, 'week'),
  link('last-week', text('Last week'), 1, 'week'),
  link('this-month', text('This month'), 0, 'month'),
  link('last-month', text('Last month'), 1, 'month'),
  link('all-time', text('All time'), 0, 'all-time'),
];

/** Those whose title, in the reader's language, holds what is searched for, whatever case. */
export function matchingLinks(
  links: readonly DateRange[],
  search: string,
  titleOf: (link: DateRange) => string,
): readonly DateRange[] {
  const wanted = search.trim().toLocaleLowerCase();
  return links.filter((one) => titleOf(one).toLocaleLowerCase().includes(wanted));
}

function link(id: string, title: string, value: number, unit: RangeUnit): DateRange {
  return { id, title, value, unit, ...NO_FIELDS };
}
