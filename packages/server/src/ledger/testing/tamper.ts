import { sql } from 'kysely';
import type { Db } from '../../db/schema.ts';

/** Has somebody look at a database that was changed with its own guards switched off, as only its superuser can; undone afterwards. */
export async function tampered(on: Db, statements: readonly string[], look: (trx: Db) => Promise<void>): Promise<void> {
  const undone = new Error('undone');
  await on
    .transaction()
    .execute(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      for (const statement of statements) await sql.raw(statement).execute(trx);
      await sql`set local session_replication_role = origin`.execute(trx);
      await look(trx);
      throw undone;
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error;
    });
}
