import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { addCircuitBreaker } from './circuitBreaker.ts';
import type { Database, Db } from './schema.ts';

const INT8 = 20;
/** Longer than the statement timeout: a database that has not answered by then does not answer at all. */
const QUERY_TIMEOUT_MS = 6_500;

/** The options of every connection, with its timeouts. */
export function connectionOptions(url: string, statementMs = 5_000) {
  return {
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: statementMs + QUERY_TIMEOUT_MS - 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: 10_000,
    lock_timeout: 4_000,
  };
}

// int8 becomes bigint everywhere, so that money and offsets never pass through a float.
pg.types.setTypeParser(INT8, BigInt);

export interface Pool {
  db: Db;
  pg: pg.Pool;
  close(): Promise<void>;
}

export function openPool(url: string, options: { max?: number; onError?: (error: Error) => void } = {}): Pool {
  const pool = new pg.Pool({
    ...connectionOptions(url),
    max: options.max ?? 10,
    idleTimeoutMillis: 30_000,
    application_name: 'stagi',
  });
  // The error of an idle connection must not end the process: the next query opens another.
  pool.on('error', (error) => options.onError?.(error));
  const watch = addCircuitBreaker(pool, url);
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    pg: pool,
    async close() {
      watch.stop();
      await db.destroy();
      // Kysely does not end the pool of a handle that was never used.
      if (!pool.ended) await pool.end();
    },
  };
}

/** Runs `work` in the transaction that `db` already is, or in a new one. */
export function inTransaction<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}
