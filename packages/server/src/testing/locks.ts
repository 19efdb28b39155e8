import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Db } from '../db/schema.ts';

/** Waits until at least `statements` statements in the test's database are blocked by locks. */
export async function waitForBlockedStatements(db: Db, statements = 1): Promise<void> {
  const waiting = async () =>
    (
      await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and backend_type = 'client backend'`.execute(db)
    ).rows.length;
  await expect.poll(waiting, { timeout: 20_000, interval: 20 }).toBeGreaterThanOrEqual(statements);
}
