/// <reference lib="esnext.temporal" />
import { newSeed } from '@stagi/contract/testing/random.ts';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { minuteEnd } from '../clock.ts';
import { type DateRange, type RangeUnit, resolveDateRange, shownFields, shownTime } from './resolve.ts';

const SEED = newSeed();
/** For each zone of each property. */
const RUNS = Number(process.env.FC_RUNS ?? 150);
const ran: string[] = [];
afterAll(() => {
  console.log(
    `date ranges: seed ${SEED}, n = ${RUNS} × ${ZONES.length} zones for each of ${ran.length}: ${ran.join(', ')}`,
  );
  expect(RUNS).toBeGreaterThan(0);
});

/** With changes at midnight, of half an hour, of a whole day, in both hemispheres, and none. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'America/Havana',
  'Africa/Cairo',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Atlantic/Azores',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
  'Pacific/Marquesas',
];
const back = fc.integer({ min: 0, max: 40 });

/** In every zone alike: half of the moments within 30 hours of a change of its clocks, the others around the end of a month. */
function checked(name: string, check: (now: Date, timeZone: string, n: number) => void): void {
  for (const timeZone of ZONES) {
    const moment = fc.oneof(nearChange(timeZone), nearMonthEnd());
    fc.assert(
      fc.property(moment, back, (now, n) => check(now, timeZone, n)),
      { seed: SEED, numRuns: RUNS },
    );
  }
  ran.push(name);
}

function nearChange(timeZone: string): fc.Arbitrary<Date> {
  const changes: number[] = [];
  let at: Temporal.ZonedDateTime | null = Temporal.ZonedDateTime.from(`2009-01-01T00:00[${timeZone}]`);
  for (at = at.getTimeZoneTransition('next'); at && at.year < 2030; at = at.getTimeZoneTransition('next')) {
    changes.push(at.epochMilliseconds);
  }
  const around = fc.integer({ min: -30 * 3_600_000, max: 30 * 3_600_000 });
  return fc.tuple(fc.constantFrom(...(changes.length > 0 ? changes : [0])), around).map(([c, d]) => new Date(c + d));
}

function nearMonthEnd(): fc.Arbitrary<Date> {
  const month = fc.integer({ min: 0, max: 12 * 40 });
  const around = fc.integer({ min: -50 * 3_600_000, max: 50 * 3_600_000 });
  return fc.tuple(month, around).map(([m, d]) => new Date(Date.UTC(1995, m, 1) + d));
}

describe('each unit in each zone, against ECMAScript’s Temporal, around changed clocks and month ends', () => {
  it('minute and hour count elapsed time back from now', () => {
    for (const [name, length] of [
      ['minute', 60_000],
      ['hour', 3_600_000],
    ] as const) {
      checked(name, (now, timeZone, n) => {
        expect(resolved(name, n, now, timeZone)).toEqual([now.getTime() - n * length, now.getTime()]);
      });
    }
  });

  it('day counts days back to the same time of day', () => {
    checked('day', (now, timeZone, n) => {
      const start = zoned(now, timeZone).toPlainDateTime().subtract({ days: n }).toZonedDateTime(timeZone);
      const expected = n === 0 ? now.getTime() : start.epochMilliseconds;
      expect(resolved('day', n, now, timeZone)).toEqual([expected, now.getTime()]);
    });
  });

  it('today, yesterday and before-yesterday are whole days, from the first to the last moment', () => {
    for (const name of ['today', 'yesterday', 'before-yesterday'] as const) {
      checked(name, (now, timeZone, n) => {
        const day = zoned(now, timeZone).toPlainDate().subtract({ days: n });
        expect(resolved(name, n, now, timeZone)).toEqual([first(day, timeZone), last(day, timeZone)]);
      });
    }
  });

  it('week is a whole week from Monday, the current one until now', () => {
    checked('week', (now, timeZone, n) => {
      const today = zoned(now, timeZone).toPlainDate();
      const monday = today.subtract({ days: today.dayOfWeek - 1, weeks: n });
      const end = n === 0 ? now.getTime() : last(monday.add({ days: 6 }), timeZone);
      expect(resolved('week', n, now, timeZone)).toEqual([first(monday, timeZone), end]);
    });
  });

  it('month is a whole month, the current one until now', () => {
    checked('month', (now, timeZone, n) => {
      const begin = zoned(now, timeZone).toPlainDate().with({ day: 1 }).subtract({ months: n });
      const end = n === 0 ? now.getTime() : last(begin.with({ day: begin.daysInMonth }), timeZone);
      expect(resolved('month', n, now, timeZone)).toEqual([first(begin, timeZone), end]);
    });
  });

  it('range takes typed times as the clocks of the zone show them', () => {
    checked('range', (now, timeZone, n) => {
      const from = zoned(now, timeZone).toPlainDateTime().round({ smallestUnit: 'minute', roundingMode: 'floor' });
      const to = from.add({ days: 3 + n });
      const range = { ...unit('range', 0), ...fields(from, to) };
      const { start, end } = resolveDateRange(range, { now, timeZone });
      expect(start && Date.parse(start)).toBe(from.toZonedDateTime(timeZone).epochMilliseconds);
      expect(end && Date.parse(end)).toBe(to.toZonedDateTime(timeZone).epochMilliseconds);
    });
  });

  it('all-time has no bounds, whenever and wherever', () => {
    checked('all-time', (now, timeZone, n) => {
      expect(resolveDateRange(unit('all-time', n), { now, timeZone })).toEqual({ start: null, end: null });
    });
  });

  it('never starts after its end, and joins neighbours without gap or overlap', () => {
    checked('neighbours', (now, timeZone, n) => {
      for (const name of ['today', 'week', 'month'] as const) {
        const [, earlierEnd] = resolved(name, n + 2, now, timeZone);
        const [laterStart, laterEnd] = resolved(name, n + 1, now, timeZone);
        expect(laterStart - earlierEnd).toBe(1);
        // A day that a zone left out is empty: 30 December 2011 in Apia.
        expect(laterStart).toBeLessThanOrEqual(laterEnd + 1);
      }
    });
  });

  it('shows a bound as the clocks of the zone do, DD/MM/YYYY HH:mm', () => {
    checked('shown', (now, timeZone) => {
      const shown = shownTime(now.toISOString(), timeZone);
      const at = zoned(now, timeZone).toPlainDateTime().round({ smallestUnit: 'minute', roundingMode: 'floor' });
      expect(shown).toBe(`${fields(at, at).startDate} ${fields(at, at).startTime}`);
    });
  });
});

it('counts minutes and hours as elapsed time, from now or from a given end', () => {
  const now = new Date('2026-03-29T03:30:00Z');
  const at = { now, timeZone: 'Europe/Berlin' };
  expect(resolveDateRange(unit('hour', 6), at).start).toBe('2026-03-28T21:30:00.000Z');
  expect(resolveDateRange(unit('minute', 15), { ...at, end: new Date('2026-03-01T00:00:00Z') })).toEqual({
    start: '2026-02-28T23:45:00.000Z',
    end: '2026-03-01T00:00:00.000Z',
  });
});

it('means the same day in a list that is fetched again each minute, to the last second of a day, a week and a month', () => {
  for (const time of ['23:30:00.000', '23:59:00.000', '23:59:59.999']) {
    const now = new Date(minuteEnd(Date.parse(`2027-01-31T${time}Z`)));
    const start = (name: RangeUnit) => resolveDateRange(unit(name, 0), { now, timeZone: 'UTC' }).start?.slice(0, 10);
    expect((['today', 'week', 'month'] as const).map(start), time).toEqual(['2027-01-31', '2027-01-25', '2027-01-01']);
  }
});

it('gives empty times 00:00 and 23:59, and shows them so', () => {
  const range = { ...unit('range', 0), startDate: '31/01/2026', endDate: '01/02/2026' };
  const { start, end } = resolveDateRange(range, { now: new Date(), timeZone: 'Asia/Kathmandu' });
  expect([start, end]).toEqual(['2026-01-30T18:15:00.000Z', '2026-02-01T18:14:00.000Z']);
  expect(shownFields(range)).toBe('31/01/2026 00:00 - 01/02/2026 23:59');
  expect(shownTime(start ?? '', 'Asia/Kathmandu')).toBe('31/01/2026 00:00');
});

it('refuses typed dates that the fields would refuse', () => {
  const range = { ...unit('range', 0), startDate: '31/02/2026', endDate: '01/03/2026' };
  expect(() => resolveDateRange(range, { now: new Date(), timeZone: 'UTC' })).toThrow(RangeError);
});

function unit(name: RangeUnit, value: number): DateRange {
  return { id: name, title: '', value, unit: name, startDate: '', startTime: '', endDate: '', endTime: '' };
}

function resolved(name: RangeUnit, value: number, now: Date, timeZone: string): [number, number] {
  const { start, end } = resolveDateRange(unit(name, value), { now, timeZone });
  return [Date.parse(start ?? ''), Date.parse(end ?? '')];
}

function zoned(now: Date, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone);
}

function first(day: Temporal.PlainDate, timeZone: string): number {
  return day.toPlainDateTime().toZonedDateTime(timeZone).epochMilliseconds;
}

function last(day: Temporal.PlainDate, timeZone: string): number {
  return first(day.add({ days: 1 }), timeZone) - 1;
}

function fields(from: Temporal.PlainDateTime, to: Temporal.PlainDateTime) {
  const two = (value: number) => String(value).padStart(2, '0');
  const date = (at: Temporal.PlainDateTime) => `${two(at.day)}/${two(at.month)}/${at.year}`;
  const time = (at: Temporal.PlainDateTime) => `${two(at.hour)}:${two(at.minute)}`;
  return { startDate: date(from), startTime: time(from), endDate: date(to), endTime: time(to) };
}
