import { ROLES, type Role } from '@stagi/contract/permissions.ts';
import type { Db } from '../db/schema.ts';
import { coversRole, mayManageMembers } from '../memberships/roles.ts';
import { closeInvitesQuery } from './status.ts';

/** Revokes the join links that a member, in their new role, could no longer create. */
export async function revokeInvitesBeyondRole(
  trx: Db,
  { workspaceId, userId, role }: { workspaceId: number; userId: number; role: Role },
): Promise<void> {
  const beyond = mayManageMembers(role) ? ROLES.filter((other) => !coversRole(role, other)) : ROLES;
  if (beyond.length === 0) return;
  await closeInvitesQuery(trx, 'inviter')
    .where('workspace_id', '=', workspaceId)
    .where('created_by', '=', userId)
    .where('role', 'in', beyond)
    .execute();
}
