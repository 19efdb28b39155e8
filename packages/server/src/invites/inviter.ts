import { ROLES, type Role } from '@stagi/contract/permissions.ts';
import type { Db } from '../db/schema.ts';
import { covers, maySeeTo } from '../workspaces/present.ts';
import { invitesToEnd } from './status.ts';

/** Ends the join links that a member, now of this role, could no longer make. */
export async function endInvitesBeyond(
  trx: Db,
  { workspaceId, userId, role }: { workspaceId: number; userId: number; role: Role },
): Promise<void> {
  const beyond = maySeeTo(role) ? ROLES.filter((other) => !covers(role, other)) : ROLES;
  if (beyond.length === 0) return;
  await invitesToEnd(trx, 'inviter')
    .where('workspace_id', '=', workspaceId)
    .where('created_by', '=', userId)
    .where('role', 'in', beyond)
    .execute();
}
