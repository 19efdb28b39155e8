import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

export interface StoredLine {
  seq: bigint;
  time_ns: bigint;
  stderr: boolean;
  text: string;
}

interface Sought {
  /** Either one: a pattern of `ilike`, or a regular expression of PostgreSQL. */
  like: string | null;
  matches: string | null;
  /** Both inclusive, as the times are. */
  first: bigint;
  last: bigint;
  fromNs: bigint | null;
  toNs: bigint | null;
  forward: boolean;
  limit: number;
}

export const LAST_SEQ = 2n ** 63n - 1n;

/**
 * Lines of a container of the workspace of the moment that hold a text, in the order of the search. By a function of the
 * database (migration 0031): a policy would be asked for each line that is looked at, which takes longer than to look.
 */
export async function linesFound(db: Db, containerId: number, sought: Sought): Promise<StoredLine[]> {
  const { like, matches, first, last, fromNs, toNs, forward, limit } = sought;
  const { rows } = await sql<StoredLine>`
    select seq, time_ns, stderr, text
    from log_lines_found(${containerId}, ${like}, ${matches}, ${first}, ${last}, ${fromNs ?? -LAST_SEQ}, ${toNs ?? LAST_SEQ},
      ${forward}, ${limit})
    order by seq ${sql.raw(forward ? 'asc' : 'desc')}`.execute(db);
  return rows;
}
