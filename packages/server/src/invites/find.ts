import type { Invitation } from '@stagi/contract/invites.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { type PublicError, refused } from '../http/errors.ts';
import { coversRole, mayManageMembers } from '../memberships/roles.ts';

export interface OpenInvite {
  id: number;
  workspace_id: number;
  workspace_name: string;
  role: Role;
  uses: number;
  used: number;
  inviter: string;
  expires_at: Date;
}

/** The same error for a link that is used up, revoked, expired or unknown. */
export const inviteUnusable = (): PublicError =>
  refused(text('This invitation can no longer be used. Ask the sender for a new one.'));

/** The workspace of a join link, whatever the link's status. */
export async function workspaceOfInvite(db: Db, hash: Buffer): Promise<number | null> {
  const row = await db.selectFrom('invite').select('workspace_id').where('hash', '=', hash).executeTakeFirst();
  return row?.workspace_id ?? null;
}

/** A join link that can be used: it is open, and its creator still has the permission to create it. */
export async function findOpenInvite(db: Db, hash: Buffer): Promise<OpenInvite | null> {
  const row = await db
    .selectFrom('invite')
    .innerJoin('workspace', 'workspace.id', 'invite.workspace_id')
    .innerJoin('app_user', 'app_user.id', 'invite.created_by')
    .innerJoin('membership', (join) =>
      join
        .onRef('membership.workspace_id', '=', 'invite.workspace_id')
        .onRef('membership.user_id', '=', 'invite.created_by'),
    )
    .select([
      'invite.id',
      'invite.workspace_id',
      'workspace.name as workspace_name',
      'invite.role',
      'invite.uses',
      'invite.used',
      'app_user.name as inviter',
      'invite.expires_at',
      'membership.role as inviter_role',
    ])
    .where('invite.hash', '=', hash)
    .where('invite.status', '=', 'pending')
    .where('invite.expires_at', '>', sql<Date>`clock_timestamp()`)
    .where('workspace.disabled_at', 'is', null)
    .where('app_user.disabled_at', 'is', null)
    .executeTakeFirst();
  if (!row) return null;
  const { inviter_role, ...invite } = row;
  return mayManageMembers(inviter_role) && coversRole(inviter_role, invite.role) ? invite : null;
}

export function presentInvitation(invite: OpenInvite): Invitation {
  return {
    clientId: invite.workspace_id,
    clientName: invite.workspace_name,
    roleName: invite.role,
    invitedBy: invite.inviter,
    expiresAt: invite.expires_at.toISOString(),
  };
}
