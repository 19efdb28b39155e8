import { Cron } from 'croner';

/** The next times of a schedule, as the platform will compute them. Throws for an expression that is none. */
export function nextTimes(cron: string, timeZone: string, count: number): Date[] {
  return new Cron(cron, { mode: '5-part', timezone: timeZone, paused: true }).nextRuns(count);
}
