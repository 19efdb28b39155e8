import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

export interface StoredLine {
  seq: bigint;
  time_ns: bigint;
  stderr: boolean;
  text: string;
}

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
export async function findLines(db: Db, containerId: number, sought: LineFilter): Promise<StoredLine[]> {
  const { like, matches, first, last, fromNs, toNs, forward, limit } = sought;
  const { rows } = await sql<StoredLine>`
    select seq, time_ns, stderr, text
    from log_lines_found(${containerId}, ${like}, ${matches}, ${first}, ${last}, ${fromNs ?? -MAX_SEQ}, ${toNs ?? MAX_SEQ},
      ${forward}, ${limit})
    order by seq ${sql.raw(forward ? 'asc' : 'desc')}`.execute(db);
  return rows;
}
