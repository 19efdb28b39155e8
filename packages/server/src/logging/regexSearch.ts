import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import pg from 'pg';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import { type FoundLines, findLines, MAX_TEXT_BYTES, type StoredLine } from './findLines.ts';

interface Search {
  pattern: string;
  fromNs: bigint | null;
  toNs: bigint | null;
  /** The searched range of lines, inclusive. */
  first: bigint;
  last: bigint;
  forward: boolean;
  limit: number;
}

/** After this time a search returns what it has found. */
export const SEARCH_TIMEOUT_MS = 1_000;
/** Lines per statement, so that a timeout still leaves the results of the windows before. */
const WINDOW_LINES = 20_000n;

const INVALID_REGEX = '2201B';
const QUERY_CANCELED = '57014';

/**
 * Matching lines, in the order of the search. PostgreSQL does the matching, in its own process and with a timeout, so that
 * no pattern can block this process. `isComplete`: the whole range was searched.
 */
export async function searchLines(
  db: Db,
  containerId: number,
  search: Search,
): Promise<{ rows: StoredLine[]; isComplete: boolean; isCut: boolean }> {
  const { first, last, forward, limit } = search;
  const pattern = toPostgresRegex(search.pattern);
  const end = Date.now() + SEARCH_TIMEOUT_MS;
  const rows: StoredLine[] = [];
  // Where no line is looked at, PostgreSQL would not read the expression.
  const isValid = await runLimited(db, SEARCH_TIMEOUT_MS, (trx) => sql`select '' ~* ${pattern}`.execute(trx));
  if (!isValid) throw tooSlow();
  for (let done = 0n; first + done <= last; done += WINDOW_LINES) {
    const left = end - Date.now();
    const [from, to] = forward
      ? [first + done, min(first + done + WINDOW_LINES - 1n, last)]
      : [max(last - done - WINDOW_LINES + 1n, first), last - done];
    const found =
      left > 0
        ? await searchWindow(db, containerId, { ...search, pattern }, from, to, limit - rows.length, left)
        : null;
    if (!found) {
      if (rows.length === 0) throw tooSlow();
      return { rows, isComplete: false, isCut: false };
    }
    rows.push(...found.rows);
    const isCut = found.isCut || bytesOf(rows) > MAX_TEXT_BYTES;
    if (isCut || rows.length >= limit) return { rows, isComplete: false, isCut };
  }
  return { rows, isComplete: true, isCut: false };
}

const bytesOf = (rows: readonly StoredLine[]): number =>
  rows.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);

/** Null after a timeout. */
function searchWindow(
  db: Db,
  containerId: number,
  { pattern, fromNs, toNs, forward }: Search,
  from: bigint,
  to: bigint,
  limit: number,
  ms: number,
): Promise<FoundLines | null> {
  const search = { like: null, matches: pattern, first: from, last: to, fromNs, toNs, forward, limit };
  return runLimited(db, ms, (trx) => findLines(trx, containerId, search));
}

/** Runs statements of a search for at most `ms` each. Null after a timeout. */
export async function runLimited<T>(db: Db, ms: number, work: (trx: Db) => Promise<T>): Promise<T | null> {
  try {
    return await inTransaction(db, async (trx) => {
      await sql`select set_config('statement_timeout', ${String(ms)}, true)`.execute(trx);
      return work(trx);
    });
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    if (error.code === QUERY_CANCELED) return null;
    if (error.code === INVALID_REGEX) throw invalid(text('This regular expression is not valid'), 'text');
    throw error;
  }
}

export const tooSlow = () => invalid(text('The search took too long. Refine it.'), 'text');

/** Translates `\b`, which is a word boundary everywhere but in PostgreSQL; refuses what makes matching exponential. */
function toPostgresRegex(written: string): string {
  if (/\(\?(=|!|<)/.test(written) || /(?<!\\)(\\\\)*\\[1-9]/.test(written)) {
    throw invalid(text('Back-references and look-around are not supported'), 'text');
  }
  return written.replace(/\\(.)/g, (whole, sign: string) => ({ b: '\\y', B: '\\Y' })[sign] ?? whole);
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
