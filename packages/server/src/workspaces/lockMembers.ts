import type { Role } from '@stagi/contract/permissions.ts';
import type { Db } from '../db/schema.ts';

/**
 * Members of a workspace change one after the other, until the transaction ends. Answers what the caller is there after
 * the wait: they, or the workspace, may have become something else by the change before; `null` for nobody.
 */
export async function lockMembers(trx: Db, workspaceId: number, userId: number): Promise<{ role: Role } | null> {
  await trx.selectFrom('workspace').select('id').where('id', '=', workspaceId).forNoKeyUpdate().execute();
  const member = await trx
    .selectFrom('membership')
    .innerJoin('workspace', 'workspace.id', 'membership.workspace_id')
    .innerJoin('app_user', 'app_user.id', 'membership.user_id')
    .select('membership.role')
    .where('membership.workspace_id', '=', workspaceId)
    .where('membership.user_id', '=', userId)
    .where('workspace.disabled_at', 'is', null)
    .where('app_user.disabled_at', 'is', null)
    .executeTakeFirst();
  return member ?? null;
}
