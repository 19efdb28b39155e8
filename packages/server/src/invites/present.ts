import type { Invite } from '@stagi/contract/invites.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { coversRole } from '../memberships/roles.ts';
import type { InviteRow } from './list.ts';

/** An invite as shown to a member with the role `viewer.role`. */
export function presentInvite(row: InviteRow, viewer: { userId: number; role: Role }): Invite {
  return {
    id: row.id,
    roleName: row.role,
    status: row.status,
    endedBy: row.ended_by,
    uses: row.uses,
    used: row.used,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    inviter: { userId: row.created_by, name: row.inviter, isMe: row.created_by === viewer.userId },
    hold: row.status !== 'pending' ? 'ended' : coversRole(viewer.role, row.role) ? null : 'more-power',
  };
}
