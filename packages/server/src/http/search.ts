import { type RawBuilder, sql } from 'kysely';

/** What a trigram index can be asked for by its middle: three letters or digits of ASCII, or any sign beyond it. */
const HAS_TRIGRAM = /[A-Za-z0-9]{3}|[\u{80}-\u{10ffff}]/u;
/** What stands before words in a `search` column. */
const WORD_STARTS = ['\n', ' '];

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

const isAddress = (text: string): boolean => /^[^@\s]+@/.test(text);

/** The same of one `search` column alone. */
export function searches(column: string, text: string): RawBuilder<boolean> {
  const form = sql`regexp_replace(search_form(${text.replaceAll('\u0000', '')}), '([\\\\%_])', '\\\\\\1', 'g')`;
  const starts = HAS_TRIGRAM.test(text) ? [''] : WORD_STARTS;
  const likes = starts.map((start) => sql`${sql.ref(column)} like ${`%${start}`}::text || ${form} || '%'`);
  return sql<boolean>`(${sql.join(likes, sql` or `)})`;
}

/** A text that may be an id. */
export function idIn(text: string): number | null {
  const id = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : null;
  return id !== null && id < 2 ** 31 ? id : null;
}
