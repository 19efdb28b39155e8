import type { Db } from '../db/schema.ts';
import { unauthenticated } from '../http/errors.ts';

/**
 * Throws 401 if the account has been disabled or deleted. Waits for a deletion in progress, and locks the row against
 * one until the transaction ends.
 */
export async function requireActiveAccount(trx: Db, userId: number): Promise<void> {
  const person = await trx
    .selectFrom('app_user')
    .select('id')
    .where('id', '=', userId)
    .where('disabled_at', 'is', null)
    .forShare()
    .executeTakeFirst();
  if (!person) throw unauthenticated();
}
