import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';

export interface StoredLine {
  seq: bigint;
  time_ns: bigint;
  stderr: boolean;
  text: string;
}

/** Lines in the order of the search. `isCut`: more were found than one answer may have. */
export interface FoundLines {
  rows: StoredLine[];
  isCut: boolean;
}

/** The most text in one answer: writing more would keep all others waiting. */
export const MAX_TEXT_BYTES = 1024 * 1024;

interface LineFilter {
  /** One of the two: a pattern for `ilike`, or a regular expression of PostgreSQL. */
  like: string | null;
  matches: string | null;
  /** Inclusive, as the times are. */
  first: bigint;
  last: bigint;
  fromNs: bigint | null;
  toNs: bigint | null;
  forward: boolean;
  limit: number;
}

export const MAX_SEQ = 2n ** 63n - 1n;

/**
 * Finds lines of a container of the current workspace, in the order of the search. It calls a function of the database
 * (migration 0031), as checking a row-level security policy for each line takes longer than reading the line.
 */
export function findLines(db: Db, containerId: number, sought: LineFilter): Promise<FoundLines> {
  const { like, matches, first, last, fromNs, toNs, forward, limit } = sought;
  const found = sql`select * from log_lines_found(${containerId}, ${like}, ${matches}, ${first}, ${last},
    ${fromNs ?? -MAX_SEQ}, ${toNs ?? MAX_SEQ}, ${forward}, ${limit})`;
  return readLines(db, found, forward);
}

/** The lines that `found` selects, up to so much text of them as one answer may have. `found` has its limit. */
export async function readLines(db: Db, found: RawBuilder<unknown>, forward: boolean): Promise<FoundLines> {
  const order = sql.raw(forward ? 'asc' : 'desc');
  const { rows } = await sql<StoredLine & { found: number }>`
    with sized as (
      select seq, time_ns, stderr, text, count(*) over ()::int as found,
        sum(octet_length(text)) over (order by seq ${order}) - octet_length(text) as bytes_before
      from (${found}) found)
    select seq, time_ns, stderr, text, found from sized where bytes_before < ${MAX_TEXT_BYTES} order by seq ${order}`.execute(
    db,
  );
  return { rows, isCut: rows.length < (rows[0]?.found ?? 0) };
}
