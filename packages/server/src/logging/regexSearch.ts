import { sql } from 'kysely';
import pg from 'pg';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import { linesFound, type StoredLine } from './linesFound.ts';

interface Search {
  pattern: string;
  fromNs: bigint | null;
  toNs: bigint | null;
  /** The lines among which is searched, both inclusive. */
  first: bigint;
  last: bigint;
  forward: boolean;
  limit: number;
}

/** A whole search may take so long; what was found by then is the answer. */
const BUDGET_MS = 1_000;
/** Lines that one statement looks at, so that much of a long log is searched even where all of it takes too long. */
const WINDOW = 20_000n;

const INVALID_PATTERN = '2201B';
const STATEMENT_ENDED = '57014';

/**
 * Lines that match, in the order of the search. PostgreSQL matches, in its own process and under a deadline, so that no
 * pattern can hold this one up. `whole`: nothing is left to be found.
 */
export async function searchLines(
  db: Db,
  containerId: number,
  search: Search,
): Promise<{ rows: StoredLine[]; whole: boolean }> {
  const { first, last, forward, limit } = search;
  const pattern = patternOf(search.pattern);
  const end = Date.now() + BUDGET_MS;
  const rows: StoredLine[] = [];
  for (let done = 0n; first + done <= last; done += WINDOW) {
    const left = end - Date.now();
    const [from, to] = forward
      ? [first + done, min(first + done + WINDOW - 1n, last)]
      : [max(last - done - WINDOW + 1n, first), last - done];
    const found =
      left > 0 ? await inWindow(db, containerId, { ...search, pattern }, from, to, limit - rows.length, left) : null;
    if (!found) {
      if (rows.length === 0) throw invalid('The search took too long. Refine it.', 'text');
      return { rows, whole: false };
    }
    rows.push(...found);
    if (rows.length >= limit) return { rows, whole: false };
  }
  return { rows, whole: true };
}

/** Null when the time ran out. */
async function inWindow(
  db: Db,
  containerId: number,
  { pattern, fromNs, toNs, forward }: Search,
  from: bigint,
  to: bigint,
  limit: number,
  ms: number,
): Promise<StoredLine[] | null> {
  try {
    return await inTransaction(db, async (trx) => {
      await sql`select set_config('statement_timeout', ${String(ms)}, true)`.execute(trx);
      const search = { like: null, matches: pattern, first: from, last: to, fromNs, toNs, forward, limit };
      return linesFound(trx, containerId, search);
    });
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    if (error.code === STATEMENT_ENDED) return null;
    if (error.code === INVALID_PATTERN) throw invalid('This regular expression is not valid', 'text');
    throw error;
  }
}

/** `\b` is a word's edge everywhere but in PostgreSQL. What would make matching exponential is not let in. */
function patternOf(text: string): string {
  if (/\(\?(=|!|<)/.test(text) || /(?<!\\)(\\\\)*\\[1-9]/.test(text)) {
    throw invalid('Back-references and look-around are not supported', 'text');
  }
  return text.replace(/\\(.)/g, (whole, sign: string) => ({ b: '\\y', B: '\\Y' })[sign] ?? whole);
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
