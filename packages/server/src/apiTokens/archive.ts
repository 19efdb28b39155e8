import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { notFound } from '../http/errors.ts';
import { isId } from '../http/paging.ts';

/**
 * Archives (revokes) a token of the caller for good; a trigger notifies its open streams. Returns nothing if it was
 * archived before.
 */
export async function archiveToken(
  { db, user }: { db: Db; user: { id: number } },
  id: number,
): Promise<{ workspace_id: number; description: string } | null> {
  const archived = await db
    .updateTable('api_token')
    .set({ archived_at: sql<Date>`now()`, archived_by: 'archived' })
    .where(isId('id', id))
    .where('user_id', '=', user.id)
    .where('archived_at', 'is', null)
    .returning(['workspace_id', 'description'])
    .executeTakeFirst();
  if (archived) return archived;
  const mine = db.selectFrom('api_token').select('id').where(isId('id', id)).where('user_id', '=', user.id);
  if (!(await mine.executeTakeFirst())) throw notFound();
  return null;
}

/** Archives (revokes) every token of a user. */
export async function archiveAllTokens(trx: Db, userId: number): Promise<void> {
  await trx
    .updateTable('api_token')
    .set({ archived_at: sql<Date>`now()`, archived_by: 'archived' })
    .where('user_id', '=', userId)
    .where('archived_at', 'is', null)
    .execute();
}
