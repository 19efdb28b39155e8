import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Db } from '../db/schema.ts';

/** Until so many statements in this database, which is the test's own, wait for locks that somebody holds. */
export async function waitsForLock(db: Db, statements = 1): Promise<void> {
  const waiting = async () =>
    (
      await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and backend_type = 'client backend'`.execute(db)
    ).rows.length;
  await expect.poll(waiting, { timeout: 20_000, interval: 20 }).toBeGreaterThanOrEqual(statements);
}
