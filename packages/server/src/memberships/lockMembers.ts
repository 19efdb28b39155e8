import type { Role } from '@stagi/contract/permissions.ts';
import type { Db } from '../db/schema.ts';

/**
 * Serializes changes of a workspace's members until the transaction ends. Returns the caller's role as of now, as it may
 * have changed while waiting for the lock; `null` if they are no member or the workspace or account is disabled.
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
