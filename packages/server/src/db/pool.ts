import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Database, Db } from './schema.ts';

const INT8 = 20;
const TIMEOUTS = '-c statement_timeout=5000 -c idle_in_transaction_session_timeout=10000 -c lock_timeout=4000';

// The one place where int8 gets its JavaScript type: money and positions never pass through a float.
pg.types.setTypeParser(INT8, BigInt);

export interface Pool {
  db: Db;
  pg: pg.Pool;
  close(): Promise<void>;
}

export function openPool(url: string, options: { max?: number; onError?: (error: Error) => void } = {}): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 10,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    options: TIMEOUTS,
    application_name: 'stagi',
  });
  // An idle connection that breaks must not end the process: the next query opens another.
  pool.on('error', (error) => options.onError?.(error));
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return { db, pg: pool, close: () => db.destroy() };
}

/** Runs `work` in the transaction `db` already is, or in a new one. */
export function inTransaction<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}
