import { type HostileAnswer, LISTED } from '../../volumeFiles/testing/hostileDaemon.ts';

/** An answer, and how many entries were asked for. */
export type Listing = [what: string, limit: number, answer: HostileAnswer];

/** The platform reads so much of an answer; it asks for 4,000 entries at most. */
const readBytes = (limit: number): number => 16 * 1024 + Math.min(limit, 4_000) * 2 * 1024;

const END = '],"next":null}';

/** So many entries, or as many as are read. */
function entries(
  limit: number,
  entry: string,
  count = Math.floor((readBytes(limit) - 400) / (entry.length + 1)),
): HostileAnswer {
  return { head: '{"entries":[', unit: `${entry},`, count: count - 1, tail: entry + END };
}

const whole = JSON.stringify(LISTED);
const long = (limit: number, field: object, character = 'x'): HostileAnswer => {
  const [head = '', tail = ''] = `{"entries":[${JSON.stringify({ ...LISTED, ...field })}${END}`.split('…');
  return { head, unit: character, count: readBytes(limit) - 400, tail };
};

export const listings: readonly Listing[] = [
  ['100 entries, as asked for', 100, entries(100, whole, 100)],
  ['270,000 entries', 100, entries(100, whole, 270_000)],
  ['as many entries as are read', 100, entries(100, whole)],
  ['entries of nothing', 100, entries(100, '{}')],
  ['entries that are numbers', 100, entries(100, '0')],
  ['entries of nothing for one', 1, entries(1, '{}')],
  ['entries of nothing for 1,000', 1_000, entries(1_000, '{}')],
  ['entries of entries', 100, entries(100, `[${whole}]`)],
  ['entries with a field of an unknown kind', 100, entries(100, whole.replace('"file"', '"x"'))],
  ['arrays in arrays', 100, { head: '{"entries":', unit: '[', count: readBytes(100) - 400, tail: '' }],
  ['many other fields', 100, { head: '{', unit: '"a":0,', count: 30_000, tail: `"entries":[${END}` }],
  ['a long name', 100, long(100, { name: '…' })],
  ['a name of dots and slashes', 100, long(100, { name: '…' }, '.')],
  ['a date that does not end', 100, long(100, { modifiedAt: '2026-01-01T00:00:00.…x' }, '1')],
  ['a long etag', 100, long(100, { etag: '…' })],
  ['a number of many digits', 100, { head: '{"entries":[{"sizeBytes":', unit: '9', count: 200_000, tail: '}]}' }],
  ['no JSON', 100, { head: '', unit: '\0', count: 200_000, tail: '' }],
  ['more than is read, for one', 1, { head: '', unit: ' ', count: 20_000_000, tail: '{}' }],
  ['10,000 entries, as asked for', 10_000, entries(10_000, whole, 10_000)],
  ['as many entries as are read for 10,000', 10_000, entries(10_000, whole)],
  ['a long name for 10,000', 10_000, long(10_000, { name: '…' })],
  ['another long name for 10,000', 10_000, long(10_000, { name: '…' }, '/')],
];
