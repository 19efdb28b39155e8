import type { ClientRelation, Plan } from '@stagi/contract/user.ts';
import { readDaysLeft } from '../billing/burnRate.ts';
import type { Context } from '../context.ts';
import { versionOf } from '../http/editVersion.ts';
import { type Authenticated, type Membership, permissionsOf } from '../sessions/authenticate.ts';

export async function presentRelation(context: Pick<Context, 'pg'>, workspace: Membership): Promise<ClientRelation> {
  const [relation] = await presentRelations(context, [workspace]);
  return relation!;
}

/** A workspace in which nothing is rented spends nothing: no statement is made for it. */
export async function presentRelations(
  { pg }: Pick<Context, 'pg'>,
  workspaces: readonly Membership[],
): Promise<ClientRelation[]> {
  const spending = workspaces.filter(({ hasRentals }) => hasRentals).map(({ id }) => id);
  const daysLeft = spending.length > 0 ? await readDaysLeft(pg, spending) : new Map<number, number | null>();
  return workspaces.map((workspace) =>
    relationOf(workspace, workspace.exhausted ? 0 : (daysLeft.get(workspace.id) ?? null)),
  );
}

function relationOf(
  workspace: Omit<Membership, 'exhausted' | 'hasRentals' | 'quotas'>,
  daysLeft: number | null,
): ClientRelation {
  return {
    clientId: workspace.id,
    clientName: workspace.name,
    roleName: workspace.role,
    permissions: [...workspace.permissions],
    hourlyPaidServicesDaysLeft: daysLeft,
    subscriptionPlan: workspace.plan,
    version: workspaceVersion(workspace),
  };
}

/** The version of what an edit changes. */
export const workspaceVersion = ({ name }: { name: string }): string => versionOf({ name });

/** The owner's relation to a workspace that was just created: nothing runs in it yet. */
export function presentNewRelation(
  { id, name, plan }: { id: number; name: string; plan: Plan },
  maker: Authenticated['user'],
): ClientRelation {
  return relationOf({ id, name, plan, role: 'Owner', permissions: permissionsOf('Owner', maker.isEmployee) }, null);
}
