import type { Member } from '@stagi/contract/clients.ts';
import type { Language } from '@stagi/contract/languages.ts';
import { ROLE_PERMISSIONS, type Role } from '@stagi/contract/permissions.ts';
import type { ClientRelation } from '@stagi/contract/user.ts';
import { type Authenticated, type Membership, permissionsOf } from '../auth/authenticate.ts';
import { daysLeft } from '../billing/balance.ts';
import { picturePath } from '../users/picture.ts';

export function presentRelation(workspace: Membership): ClientRelation {
  return {
    clientId: workspace.id,
    clientName: workspace.name,
    roleName: workspace.role,
    permissions: [...workspace.permissions],
    hourlyPaidServicesDaysLeft: daysLeft(workspace),
    subscriptionPlan: workspace.plan,
  };
}

/** A workspace of this moment: its maker owns it, and nothing runs in it yet. */
export function presentNew({ id, name }: { id: number; name: string }, maker: Authenticated['user']): ClientRelation {
  return presentRelation({
    id,
    name,
    plan: 'Free',
    exhausted: false,
    role: 'Owner',
    permissions: permissionsOf('Owner', maker.isEmployee),
    balance: 0n,
    perHour: 0n,
  });
}

export interface MemberRow {
  user_id: number;
  name: string;
  email: string;
  image: string | null;
  language: Language | null;
  role: Role;
  created_at: Date;
  is_last_owner: boolean;
}

/** A member as another one sees them, who has the role `viewer.role`. */
export function presentMember(row: MemberRow, viewer: { userId: number; role: Role }): Member {
  return {
    userId: row.user_id,
    name: row.name,
    email: row.email,
    image: row.image && picturePath(row.image),
    roleName: row.role,
    createdAt: row.created_at.toISOString(),
    isMe: row.user_id === viewer.userId,
    hold: covers(viewer.role, row.role) ? (row.is_last_owner ? 'last-owner' : null) : 'more-power',
  };
}

/** Whether a role may change members at all. */
export const maySeeTo = (role: Role): boolean => ROLE_PERMISSIONS[role].includes('INVITE_USERS_TO_CLIENT');

/** Whether one role holds every permission of another: only then may it give, change or end it. */
export function covers(role: Role, other: Role): boolean {
  return ROLE_PERMISSIONS[other].every((permission) => ROLE_PERMISSIONS[role].includes(permission));
}
