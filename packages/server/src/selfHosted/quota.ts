import { PLAN_LIMITS } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import { lockPlan } from '../memberships/lockPlan.ts';

/** Throws when the plan allows no further own server. What is there beyond it, as after a downgrade, stays. */
export async function requireOwnServer(trx: Db, workspace: { id: number; plan: Plan }): Promise<void> {
  const limit = PLAN_LIMITS[workspace.plan].ownServers;
  if (limit === null) return;
  const owners = await lockPlan(trx, workspace);
  // A database function counts, as row-level security hides the owners' other workspaces from this call.
  const { rows } = await sql<{ count: number }>`
    select own_servers_under(${workspace.id}, ${owners}) as count`.execute(trx);
  if (rows[0]!.count < limit) return;
  throw invalid(text('Your plan allows {{limit}} own servers. Remove one or upgrade.'), 'title', { limit });
}
