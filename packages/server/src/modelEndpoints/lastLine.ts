import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

/** Blank lines at the end of a log say nothing. */
const LINES = 50;
const MOST_CHARACTERS = 500;

/**
 * The last line that is not blank of the run of a container that ended last, shortened; null when it printed none. A
 * line may come seconds after the word that the run has ended.
 */
export async function lastLineOf(db: Db, containerId: number): Promise<string | null> {
  const { rows } = await sql<{ text: string }>`
    with last as (select from_ns, ended_at, started_at from container_run where container_id = ${containerId}
      order by number desc limit 1)
    select text from (select seq, text from log_line where container_id = ${containerId}
        and time_ns < coalesce((select from_ns from last where ended_at is null), ${String(2n ** 63n - 1n)}::bigint)
      order by seq desc limit ${LINES}) as lines
    where text ~ '[^[:space:]]' order by seq desc limit 1`.execute(db);
  return rows[0]?.text.trim().slice(0, MOST_CHARACTERS) ?? null;
}
