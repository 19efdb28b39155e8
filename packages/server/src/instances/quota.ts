import { PLAN_LIMITS, type PlanLimits } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { lockPlan } from '../memberships/lockPlan.ts';

const USES_NO_QUOTA = ['creation failed', 'terminating', 'terminated'];

/** Throws when `added` more servers exceed the quota of the plan. */
export async function requireQuota(
  trx: Db,
  workspace: { id: number; plan: Plan },
  { hasGpu, added }: { hasGpu: boolean; added: 0 | 1 },
): Promise<void> {
  const kind: keyof PlanLimits = hasGpu ? 'gpuServers' : 'cpuOnlyServers';
  const limit = PLAN_LIMITS[workspace.plan][kind];
  if (limit === null) return;
  const owners = await lockPlan(trx, workspace);
  // A database function counts, as row-level security hides the owners' other workspaces from this call.
  const { rows } = await sql<{ count: number }>`
    select rented_under(${workspace.id}, ${owners}, ${hasGpu}, ${USES_NO_QUOTA}) as count`.execute(trx);
  if (rows[0]!.count + added <= limit) return;
  throw hasGpu
    ? refused(text('GPU servers that your plan allows at a time: {{limit}}'), { limit })
    : refused(text('CPU-only servers that your plan allows at a time: {{limit}}'), { limit });
}
