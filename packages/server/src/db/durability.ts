import { sql } from 'kysely';

/**
 * In a statement or transaction: its commit waits for no disk. Everybody sees it at once; should the database die, it
 * may be lost for a moment after (PostgreSQL, "Asynchronous Commit": three times `wal_writer_delay`), never a part of it.
 */
export const committedSoon = sql<string>`set_config('synchronous_commit', 'off', true)`;

/** In a statement: its commit waits for the disk, and so for all that it has seen, although it changes nothing. */
export const committedNow = sql<string>`pg_logical_emit_message(true, 'stagi', '')`;
