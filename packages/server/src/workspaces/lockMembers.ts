import type { Role } from '@stagi/contract/permissions.ts';
import type { Db } from '../db/schema.ts';

/**
 * Members of a workspace change one after the other, until the transaction ends. Answers what the caller is there after
 * the wait: they may have become something else by the change before; `null` for nobody.
 */
export async function lockMembers(trx: Db, workspaceId: number, userId: number): Promise<{ role: Role } | null> {
  await trx.selectFrom('workspace').select('id').where('id', '=', workspaceId).forNoKeyUpdate().execute();
  const member = await trx
    .selectFrom('membership')
    .select('role')
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return member ?? null;
}
