/**
 * Blocks are known by the terms of their rows' `search` columns: every three signs in a row, which are all ASCII
 * (migration 0018), as a number of 21 bits.
 */
const SIGNS = 3;
const BITS = 7;
const SIGN = 2 ** BITS - 1;
const TERM = 2 ** (SIGNS * BITS) - 1;

/** Stands behind a `search` column, so that its last signs begin a term as well. */
export const END = '\n\n';

/** Some are met more than once. */
export function eachTerm(text: string, meet: (term: number) => void): void {
  let term = 0;
  for (let at = 0; at < text.length; at += 1) {
    term = ((term << BITS) | (text.charCodeAt(at) & SIGN)) & TERM;
    if (at >= SIGNS - 1) meet(term);
  }
}

/** What a `search` column has that holds a text: all of some terms, or one of those from `first` to `last`. */
export type Wanted = { terms: number[] } | { first: number; last: number };

export function wantedFor(text: string): Wanted {
  const terms = new Set<number>();
  eachTerm(text, (term) => terms.add(term));
  if (terms.size > 0) return { terms: [...terms] };
  const free = BITS * (SIGNS - text.length);
  const first = [...text].reduce((term, sign) => (term << BITS) | (sign.charCodeAt(0) & SIGN), 0) << free;
  return { first, last: first + 2 ** free - 1 };
}
