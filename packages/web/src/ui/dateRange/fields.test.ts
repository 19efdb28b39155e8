import { expect, it } from 'vitest';
import { checkFields, NO_FIELDS, parseDate, parseTime, type RangeFields } from './fields.ts';

const DAYS: RangeFields = { startDate: '01/03/2026', startTime: '', endDate: '02/03/2026', endTime: '' };

it('takes dates as DD/MM/YYYY and only days that exist', () => {
  expect(parseDate('29/02/2024')).toEqual({ year: 2024, month: 2, day: 29 });
  for (const typed of [
    '29/02/2026',
    '31/04/2026',
    '1/3/2026',
    '00/01/2026',
    '01/13/2026',
    '01/01/0000',
    '01.01.2026',
    '',
  ]) {
    expect(parseDate(typed), typed).toBeNull();
  }
});

it('takes times as HH:mm', () => {
  expect(parseTime('23:59')).toEqual({ hour: 23, minute: 59 });
  for (const typed of ['24:00', '12:60', '9:00', '09:00:00', '']) expect(parseTime(typed), typed).toBeNull();
});

it('wants both dates or neither', () => {
  expect(checkFields(NO_FIELDS, 'UTC')).toEqual({ is: 'empty' });
  expect(wrong({ ...NO_FIELDS, startDate: '01/03/2026' })).toEqual(['endDate']);
  expect(wrong({ ...NO_FIELDS, endTime: '10:00' })).toEqual(['startDate', 'endDate']);
  expect(wrong({ ...DAYS, endTime: '10:6' })).toEqual(['endTime']);
});

it('wants the start strictly before the end', () => {
  expect(wrong({ ...DAYS, endDate: '28/02/2026' })).toEqual(['startDate', 'endDate']);
  const oneDay = { ...DAYS, endDate: DAYS.startDate };
  expect(checkFields(oneDay, 'UTC').is).toBe('valid');
  expect(wrong({ ...oneDay, startTime: '10:00', endTime: '10:00' })).toEqual(['startTime', 'endTime']);
  expect(wrong({ ...oneDay, endTime: '00:00' })).toEqual(['startTime', 'endTime']);
});

it('flags two times whose order the change of the clocks turns round', () => {
  const skipped = { startDate: '29/03/2026', startTime: '02:30', endDate: '29/03/2026', endTime: '03:15' };
  expect(checkFields(skipped, 'UTC').is).toBe('valid');
  expect(checkFields(skipped, 'Europe/Berlin').is).toBe('wrong');
});

function wrong(typed: RangeFields): string[] {
  const verdict = checkFields(typed, 'UTC');
  return verdict.is === 'wrong' ? [...verdict.fields] : [];
}
