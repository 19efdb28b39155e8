import { isSharedQuota, type Quota, type WorkspacePlan } from '@stagi/contract/planLimits.ts';
import type { Db } from '../db/schema.ts';

/** The owners of a workspace, locked until the transaction ends: what they share between workspaces is decided one by one. */
export async function lockOwners(trx: Db, workspaceId: number): Promise<number[]> {
  const owners = await trx
    .selectFrom('app_user')
    .select('id')
    .where('id', 'in', idsOfOwners(trx, workspaceId))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  return owners.map(({ id }) => id);
}

/** The owners whose other Free workspaces count as well; none where the workspace counts alone. */
export async function ownersSharing(
  db: Db,
  workspace: { id: number } & WorkspacePlan,
  quota: Quota,
): Promise<number[]> {
  if (!isSharedQuota(workspace, quota)) return [];
  const owners = await idsOfOwners(db, workspace.id).execute();
  return owners.map(({ user_id }) => user_id);
}

const idsOfOwners = (db: Db, workspaceId: number) =>
  db.selectFrom('membership').select('user_id').where('workspace_id', '=', workspaceId).where('role', '=', 'Owner');
