import type { ClientRelation } from '@stagi/contract/user.ts';
import { type Authenticated, type Membership, permissionsOf } from '../sessions/authenticate.ts';

export function presentRelation(workspace: Membership): ClientRelation {
  return {
    clientId: workspace.id,
    clientName: workspace.name,
    roleName: workspace.role,
    permissions: [...workspace.permissions],
    hourlyPaidServicesDaysLeft: workspace.daysLeft,
    subscriptionPlan: workspace.plan,
  };
}

/** The owner's relation to a workspace that was just created: nothing runs in it yet. */
export function presentNewRelation(
  { id, name }: { id: number; name: string },
  maker: Authenticated['user'],
): ClientRelation {
  return presentRelation({
    id,
    name,
    plan: 'Free',
    exhausted: false,
    role: 'Owner',
    permissions: permissionsOf('Owner', maker.isEmployee),
    daysLeft: null,
  });
}
