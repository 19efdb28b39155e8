import { sql } from 'kysely';
import type pg from 'pg';
import type { Db } from './schema.ts';

const BACKUP_LOCK = 7_239_002;

/** Held by the connection until it ends. False: another backup runs. */
export async function takeBackupLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [BACKUP_LOCK]);
  return rows[0]!.taken;
}

/** While a backup runs, no bytes are removed: its rows, of a moment before, still name them. */
export async function isBackupRunning(db: Db): Promise<boolean> {
  const { rows } = await sql<{ runs: boolean }>`select exists (select from pg_locks
    where locktype = 'advisory' and classid = 0 and objid = ${BACKUP_LOCK} and granted
      and database = (select oid from pg_database where datname = current_database())) as runs`.execute(db);
  return rows[0]!.runs;
}
