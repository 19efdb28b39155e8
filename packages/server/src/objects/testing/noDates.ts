export const NOON = '2026-03-01T12:00:00Z';
const MARCH_2 = '2026-03-02T00:00:00Z';
const MARCH_3 = '2026-03-03T00:00:00Z';

/** Texts that are no date, each with a time at which it would be in force if it were read leniently. */
export const NO_DATES: readonly [what: string, timestamp: string, at?: string][] = [
  ['month 13, day 99', '20261399T000000Z'],
  ['month 13', '20261301T120000Z', '2027-01-01T12:00:00Z'],
  ['month 00', '20260001T120000Z', '2025-12-01T12:00:00Z'],
  ['month 99', '20269901T120000Z'],
  ['day 32', '20260132T120000Z', '2026-02-01T12:00:00Z'],
  ['day 00', '20260300T120000Z', '2026-02-28T12:00:00Z'],
  ['31 February', '20260231T000000Z', MARCH_3],
  ['30 February of a leap year', '20240230T120000Z', '2024-03-01T12:00:00Z'],
  ['29 February of a common year', '20260229T120000Z', NOON],
  ['29 February of 1900', '19000229T120000Z', '1900-03-01T12:00:00Z'],
  ['31 April', '20260431T120000Z', '2026-05-01T12:00:00Z'],
  ['31 November', '20261131T120000Z', '2026-12-01T12:00:00Z'],
  ['24:00', '20260301T240000Z', MARCH_2],
  ['25:00', '20260301T250000Z', '2026-03-02T01:00:00Z'],
  ['23:60', '20260301T236000Z', MARCH_2],
  ['second 60', '20260301T235960Z', MARCH_2],
  ['second 99', '20260301T120099Z', NOON],
  ['year 0000', '00000101T000000Z'],
  ['a lower-case t', '20260301t120000Z'],
  ['a lower-case z', '20260301T120000z'],
  ['full-width digits', '２０２６０３０１T１２００００Z'],
  ['one full-width digit', '2026030１T120000Z'],
  ['Arabic digits', '٢٠٢٦٠٣٠١T120000Z'],
  ['a space within', '20260301 T120000Z'],
  ['a space for T', '20260301 120000Z'],
  ['a plus', '+20260301T120000Z'],
  ['a minus', '-0260301T120000Z'],
  ['a sixth digit of the year', '+0020260301T120000Z'],
  ['an extra digit of the day', '202603011T120000Z'],
  ['an extra digit of the second', '20260301T1200000Z'],
  ['a fraction', '20260301T120000.5Z'],
  ['no Z', '20260301T120000'],
  ['an offset', '20260301T120000+0000'],
  ['Z twice', '20260301T120000ZZ'],
  ['no seconds', '20260301T1200Z'],
  ['only a day', '20260301'],
  ['hexadecimal digits', '20260301T12000aZ'],
  ['nothing', ''],
  ['NaN', 'NaN'],
  ['Infinity', 'Infinity'],
  ['seconds since 1970', '1772366400'],
  ['the largest number', '99999999T999999Z'],
];

/** The same, for links alone: headers are trimmed, and may have other forms. */
export const PADDED: typeof NO_DATES = [
  ['a space before', ' 20260301T120000Z'],
  ['a space behind', '20260301T120000Z '],
  ['a line break behind', '20260301T120000Z\n'],
  ['NUL behind', '20260301T120000Z\0'],
  ['the form of a header', 'Sun, 01 Mar 2026 12:00:00 GMT'],
  ['hyphens and colons', NOON],
];

/** Dates that are none, which `Date.parse` reads all the same; at that time they are in force. */
export const LENIENT: readonly [text: string, at: string][] = [
  ['Tue, 31 Feb 2026 00:00:00 GMT', MARCH_3],
  ['Sun, 29 Feb 2026 12:00:00 GMT', NOON],
  ['Sun, 01 Mar 2026 24:00:00 GMT', MARCH_2],
  ['2026-02-31T00:00:00Z', MARCH_3],
  ['2026-03-01T24:00:00Z', MARCH_2],
  ['nonsense 1 Mar 2026 12:00:00 GMT (or not)', NOON],
];
