import { expect, it } from 'vitest';
import { cronOf, NIGHTLY, type Timing, timingOf } from './cron.ts';

const timing = (change: Partial<Timing>): Timing => ({ ...NIGHTLY, ...change });

it.each([
  [timing({ every: 'hour', minute: 5 }), '5 * * * *'],
  [timing({ every: 'day', time: '02:30' }), '30 2 * * *'],
  [timing({ every: 'weekdays', time: '23:00' }), '0 23 * * 1-5'],
  [timing({ every: 'week', time: '00:07', weekday: 0 }), '7 0 * * 0'],
  [timing({ every: 'custom', cron: ' */15   9-17 * * 1-5 ' }), '*/15 9-17 * * 1-5'],
])('writes %o as %s', (of, cron) => {
  expect(cronOf(of)).toBe(cron);
});

it.each([
  timing({ every: 'hour', minute: '' }),
  timing({ every: 'hour', minute: 60 }),
  timing({ every: 'hour', minute: 1.5 }),
  timing({ time: '2:3' }),
  timing({ time: '24:00' }),
  timing({ every: 'custom', cron: '  ' }),
])('has no expression for %o', (of) => {
  expect(cronOf(of)).toBeNull();
});

it.each(['0 * * * *', '59 23 * * *', '0 0 * * 1-5', '15 6 * * 3'])('reads %s back as it wrote it', (cron) => {
  const read = timingOf(cron);
  expect(read.every).not.toBe('custom');
  expect(cronOf(read)).toBe(cron);
});

it('reads both numbers of Sunday', () => {
  expect(timingOf('0 8 * * 7')).toMatchObject({ every: 'week', weekday: 0, time: '08:00' });
});

it.each(['*/5 * * * *', '0 2 1 * *', '0 2 * 6 *', '0 25 * * *', '0 * * * 1', '0 2 * * 1,3', '@daily', '61 * * * *'])(
  'leaves %s as it is',
  (cron) => {
    expect(timingOf(cron)).toMatchObject({ every: 'custom', cron });
  },
);
