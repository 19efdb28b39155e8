import { type RawBuilder, sql } from 'kysely';
import type { Sought } from '../skipIndex/blocks.ts';
import type { List } from '../skipIndex/lists.ts';

/** What a trigram index can be asked for by its middle: three letters or digits of ASCII, or any sign beyond it. */
const HAS_TRIGRAM = /[A-Za-z0-9]{3}|[\u{80}-\u{10ffff}]/u;

/**
 * Whether people's `search` columns (migration 0018) hold a text, whatever case. A text too short for a trigram is
 * looked for at the beginning of words alone: to look for it everywhere would read every row. One with an @ within is
 * the beginning of an address: the trigrams of addresses are those of half of all others.
 */
export function searchesPeople(table: string, text: string): RawBuilder<boolean> {
  return isAddress(text) ? beginsWith(`${table}.email`, text) : searches(`${table}.search`, text);
}

/** Of an address, which stands in small letters. */
export function beginsWith(column: string, text: string): RawBuilder<boolean> {
  const start = text
    .toLowerCase()
    .replaceAll('\u0000', '')
    .replace(/[\\%_]/g, '\\$&');
  return sql<boolean>`${sql.ref(column)} like ${`${start}%`}`;
}

export const isAddress = (text: string): boolean => /^[^@\s]+@/.test(text);

/** The same of one `search` column alone. */
export function searches(column: string, text: string): RawBuilder<boolean> {
  const likes = patternsOf(text).map((pattern) => sql`${sql.ref(column)} like ${pattern}`);
  return sql<boolean>`(${sql.join(likes, sql` or `)})`;
}

/** What stands before words in a `search` column. */
const STARTS = ['\n', ' '];

/** What a `search` column is like that holds a text. `starts`: what stands before words there. */
export function patternsOf(text: string, starts = STARTS): RawBuilder<string>[] {
  const form = sql`regexp_replace(${formOf(text)}, '([\\\\%_])', '\\\\\\1', 'g')`;
  return startsOf(text, starts).map((start) => sql<string>`${`%${start}`}::text || ${form} || '%'`);
}

/** The same as what an index of the list's order is asked for. `also`: an id that is looked for besides. */
export function soughtIn(
  list: List,
  sortedBy: string,
  text: string,
  { starts = STARTS, also = null }: { starts?: readonly string[]; also?: number | null } = {},
): Sought {
  const texts = startsOf(text, starts).map((start) => sql<string>`${start}::text || ${formOf(text)}`);
  return { list, sortedBy, texts, also };
}

const startsOf = (text: string, starts: readonly string[]) => (HAS_TRIGRAM.test(text) ? [''] : starts);
const formOf = (text: string) => sql<string>`search_form(${text.replaceAll('\u0000', '')})`;

/** A text that may be an id. */
export function idIn(text: string): number | null {
  const id = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : null;
  return id !== null && id < 2 ** 31 ? id : null;
}
