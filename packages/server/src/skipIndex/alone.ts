import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';

/**
 * One at a time on a database writes the indexes and takes what came off `skip_news`: whoever reads a whole list finds
 * in it, or in the news, all that ever came. Null where somebody else is at it.
 */
export function alone<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T | null> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ is_mine: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('skip-index', 0)) as is_mine`.execute(trx);
    return rows[0]?.is_mine ? work(trx) : null;
  });
}
