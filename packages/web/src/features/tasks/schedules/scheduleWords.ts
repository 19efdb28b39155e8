import { LOCALE } from '@stagi/contract/languages.ts';
import { currentLanguage, type T } from '../../../i18n/i18n.ts';
import { type Every, timingOf } from './cron.ts';

/** A schedule in words; an expression that has none is shown as it is. */
export function scheduleWords(t: T, cron: string): string {
  const { every, minute, time, weekday } = timingOf(cron);
  switch (every) {
    case 'hour':
      return t('Every hour, {{minute}} min past', { minute });
    case 'day':
      return t('Every day at {{time}}', { time });
    case 'weekdays':
      return t('Monday to Friday at {{time}}', { time });
    case 'week':
      return t('Weekly: {{weekday}}, {{time}}', { weekday: weekdayName(weekday), time });
    case 'custom':
      return cron;
  }
}

export function everyWord(t: T, every: Every): string {
  switch (every) {
    case 'hour':
      return t('Every hour');
    case 'day':
      return t('Every day');
    case 'weekdays':
      return t('Monday to Friday');
    case 'week':
      return t('Every week');
    case 'custom':
      return t('Cron expression');
  }
}

/** The 1st of February 2026 was a Sunday. */
export const weekdayName = (weekday: number): string =>
  new Intl.DateTimeFormat(LOCALE[currentLanguage()], { weekday: 'long' }).format(new Date(2026, 1, 1 + weekday));
