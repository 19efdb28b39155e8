import { newSeed } from '@stagi/contract/testing/random.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseQuickLink, draftFromRange, fieldsWithError, rangeFromDraft, typeFields } from './draft.ts';
import { NO_FIELDS, type RangeFields } from './fields.ts';
import { matchingLinks, QUICK_LINKS } from './quickLinks.ts';
import { rangeFromText, rangeToText } from './rangeText.ts';
import { rangeFromFields, resolveDateRange } from './resolve.ts';

const quick = (id: string) => {
  const link = QUICK_LINKS.find((one) => one.id === id);
  if (!link) throw new Error(`no quick link ${id}`);
  return link;
};
const DAYS = { startDate: '01/03/2026', endDate: '02/03/2026' };
const left = (...names: (keyof RangeFields)[]) => new Set(names);

describe('what is chosen in the open picker', () => {
  it('is a quick link or typed fields, never both', () => {
    const typed = typeFields(chooseQuickLink(quick('today')), { startDate: '0' });
    expect(typed).toEqual({ quick: null, fields: { ...NO_FIELDS, startDate: '0' } });
    expect(chooseQuickLink(quick('today'))).toEqual({ quick: quick('today'), fields: NO_FIELDS });
  });

  it('begins with what was applied', () => {
    expect(draftFromRange(null)).toEqual({ quick: null, fields: NO_FIELDS });
    expect(draftFromRange(quick('last-hour')).quick?.id).toBe('last-hour');
    const value = rangeFromFields({ ...NO_FIELDS, ...DAYS });
    expect(draftFromRange(value)).toEqual({ quick: null, fields: { ...DAYS, startTime: '00:00', endTime: '23:59' } });
  });

  it('can be applied with a quick link, or with valid and complete fields', () => {
    expect(rangeFromDraft(draftFromRange(null), 'UTC')).toBeNull();
    expect(rangeFromDraft(chooseQuickLink(quick('all-time')), 'UTC')?.unit).toBe('all-time');
    expect(rangeFromDraft(typeFields(draftFromRange(null), { startDate: '01/03/2026' }), 'UTC')).toBeNull();
    expect(rangeFromDraft(typeFields(draftFromRange(null), { ...DAYS, endTime: '10:6' }), 'UTC')).toBeNull();
    expect(
      rangeFromDraft(typeFields(draftFromRange(null), { startDate: '02/03/2026', endDate: '01/03/2026' }), 'UTC'),
    ).toBeNull();
    expect(rangeFromDraft(typeFields(draftFromRange(null), DAYS), 'UTC')).toMatchObject({
      unit: 'range',
      startTime: '00:00',
      endTime: '23:59',
    });
  });

  it('flags a field once it is typed to its end or was left, not while it is typed', () => {
    const typing = typeFields(draftFromRange(null), { startDate: '31/0' });
    expect([...fieldsWithError(typing, left(), 'UTC')]).toEqual([]);
    expect([...fieldsWithError(typing, left('startDate'), 'UTC')]).toEqual(['startDate']);
    expect([...fieldsWithError(typeFields(typing, { startDate: '31/02/2026' }), left(), 'UTC')]).toEqual(['startDate']);
    expect([
      ...fieldsWithError(typeFields(draftFromRange(null), { startDate: '01/03/2026' }), left('endDate'), 'UTC'),
    ]).toEqual(['endDate']);
    expect([...fieldsWithError(typeFields(draftFromRange(null), DAYS), left('startDate', 'endDate'), 'UTC')]).toEqual(
      [],
    );
  });
});

it('finds quick links by what the reader sees', () => {
  const ids = (search: string) => matchingLinks(QUICK_LINKS, search, ({ title }) => title).map(({ id }) => id);
  expect(ids('')).toHaveLength(QUICK_LINKS.length);
  expect(ids(' WEEK ')).toEqual(['this-week', 'last-week']);
  expect(ids('century')).toEqual([]);
});

it('offers each unit of the specification but typed ranges', () => {
  expect([...new Set(QUICK_LINKS.map(({ unit }) => unit))].sort()).toEqual(
    ['all-time', 'before-yesterday', 'day', 'hour', 'minute', 'month', 'today', 'week', 'yesterday'].sort(),
  );
  expect(new Set(QUICK_LINKS.map(({ id }) => id)).size).toBe(QUICK_LINKS.length);
});

describe('a range in an address', () => {
  it('is read again as it was chosen', () => {
    const ranges = [...QUICK_LINKS, rangeFromFields({ ...NO_FIELDS, ...DAYS, startTime: '08:15' })];
    for (const range of ranges) expect(rangeFromText(rangeToText(range))).toEqual(range);
    expect(rangeToText(ranges.at(-1) ?? null)).toBe('2026-03-01 08:15~2026-03-02 23:59');
    expect(rangeToText(null)).toBe('');
  });

  it('counts as none when it is none, and never throws', () => {
    for (const text of ['', 'x', '2026-02-31 00:00~2026-03-01 00:00', '2026-03-01 24:00~2026-03-02 00:00']) {
      expect(rangeFromText(text), text).toBeNull();
    }
    const seed = newSeed();
    const numRuns = 2000;
    const near = fc.string({ unit: fc.constantFrom(...'0123456789-: ~'), maxLength: 40 });
    fc.assert(
      fc.property(fc.oneof(fc.string(), near), (text) => {
        const range = rangeFromText(text);
        if (range && rangeFromDraft(draftFromRange(range), 'UTC'))
          resolveDateRange(range, { now: new Date(0), timeZone: 'UTC' });
      }),
      { seed, numRuns },
    );
    console.log(`ranges in addresses: seed ${seed}, n = ${numRuns}`);
  });
});
