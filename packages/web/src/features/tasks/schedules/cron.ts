/** The ways to say when a schedule starts its task. Everything else is a cron expression. */
export const EVERY = ['hour', 'day', 'weekdays', 'week', 'custom'] as const;
export type Every = (typeof EVERY)[number];

/** When a task is started, as the form asks for it. What `every` does not need keeps its value. */
export interface Timing {
  every: Every;
  /** Of each hour. An empty number field holds a text. */
  minute: number | string;
  /** `HH:mm`. */
  time: string;
  /** From 0, Sunday, as cron counts. */
  weekday: number;
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  cron: string;
}

export const NIGHTLY: Timing = { every: 'day', minute: 0, time: '02:00', weekday: 1, cron: '0 2 * * *' };

const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;
const NUMBER = /^\d{1,2}$/;

/** Null where a time or a minute is missing or wrong. */
export function cronOf({ every, minute, time, weekday, cron }: Timing): string | null {
  if (every === 'custom') return cron.trim() === '' ? null : cron.trim().replace(/\s+/g, ' ');
  if (every === 'hour') return isMinute(minute) ? `${Number(minute)} * * * *` : null;
  const [, hour, minutes] = TIME.exec(time) ?? [];
  if (hour === undefined) return null;
  const at = `${Number(minutes)} ${Number(hour)} * *`;
  if (every === 'day') return `${at} *`;
  return every === 'weekdays' ? `${at} 1-5` : `${at} ${weekday}`;
}

/** The form's words for an expression, which are its own where the form has none. */
export function timingOf(cron: string): Timing {
  const custom = { ...NIGHTLY, every: 'custom', cron } as const;
  const fields = cron.trim().split(/\s+/);
  const [minute = '', hour = '', day, month, weekday = ''] = fields;
  if (fields.length !== 5 || day !== '*' || month !== '*' || !isMinute(minute)) return custom;
  if (hour === '*') return weekday === '*' ? { ...custom, every: 'hour', minute: Number(minute) } : custom;
  if (!NUMBER.test(hour) || Number(hour) > 23) return custom;
  const at = { ...custom, time: `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}` };
  if (weekday === '*') return { ...at, every: 'day' };
  if (weekday === '1-5') return { ...at, every: 'weekdays' };
  return /^[0-7]$/.test(weekday) ? { ...at, every: 'week', weekday: Number(weekday) % 7 } : custom;
}

const isMinute = (minute: number | string): boolean => NUMBER.test(String(minute)) && Number(minute) < 60;
