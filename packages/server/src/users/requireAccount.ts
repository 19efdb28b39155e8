import type { Db } from '../db/schema.ts';
import { unauthenticated } from '../http/errors.ts';

/**
 * Whoever deletes their account or is shut out at this moment holds their row: waits for that, and refuses what would be
 * made for somebody who is no more. The row stays until the transaction ends.
 */
export async function requireAccount(trx: Db, userId: number): Promise<void> {
  const person = await trx
    .selectFrom('app_user')
    .select('id')
    .where('id', '=', userId)
    .where('disabled_at', 'is', null)
    .forShare()
    .executeTakeFirst();
  if (!person) throw unauthenticated();
}
