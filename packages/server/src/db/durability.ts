import { sql } from 'kysely';

/**
 * Within a transaction: its commit does not wait for the disk (PostgreSQL, "Asynchronous Commit"). It is visible at once.
 * A crash of the database within three times `wal_writer_delay` may lose it as a whole, never a part of it.
 */
export const commitAsync = sql<string>`set_config('synchronous_commit', 'off', true)`;

/** Within a statement: its commit waits for the disk, and so for every commit that it has seen, although it changes nothing. */
export const commitSync = sql<string>`pg_logical_emit_message(true, 'stagi', '')`;
