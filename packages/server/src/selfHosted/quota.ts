import { limitsOf, type WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import { lockPlan } from '../memberships/lockPlan.ts';

/** Throws when the plan allows no further own server. What is there beyond it, as after a downgrade, stays. */
export async function requireOwnServer(trx: Db, workspace: { id: number } & WorkspacePlan): Promise<void> {
  const limit = limitsOf(workspace).ownServers;
  if (limit === null) return;
  const owners = await lockPlan(trx, workspace, 'ownServers');
  if ((await countOwnServers(trx, workspace.id, owners)) < limit) return;
  throw invalid(text('Your plan allows {{limit}} own servers. Remove one or upgrade.'), 'title', { limit });
}

export async function countOwnServers(db: Db, workspaceId: number, owners: number[]): Promise<number> {
  // A database function counts, as row-level security hides the owners' other workspaces from this call.
  const { rows } = await sql<{ count: number }>`
    select own_servers_under(${workspaceId}, ${owners}) as count`.execute(db);
  return rows[0]!.count;
}
