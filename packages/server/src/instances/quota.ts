import { limitsOf, type WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { lockPlan } from '../memberships/lockPlan.ts';

const USES_NO_QUOTA = ['creation failed', 'terminating', 'terminated'];

/** Throws when `added` more servers exceed the quota of the plan. */
export async function requireQuota(
  trx: Db,
  workspace: { id: number } & WorkspacePlan,
  { hasGpu, added }: { hasGpu: boolean; added: 0 | 1 },
): Promise<void> {
  const quota = hasGpu ? 'gpuServers' : 'cpuOnlyServers';
  const limit = limitsOf(workspace)[quota];
  if (limit === null) return;
  const owners = await lockPlan(trx, workspace, quota);
  if ((await countRented(trx, workspace.id, owners, { hasGpu })) + added <= limit) return;
  throw hasGpu
    ? refused(text('GPU servers that your plan allows at a time: {{limit}}'), { limit })
    : refused(text('CPU-only servers that your plan allows at a time: {{limit}}'), { limit });
}

export async function countRented(
  db: Db,
  workspaceId: number,
  owners: number[],
  { hasGpu }: { hasGpu: boolean },
): Promise<number> {
  // A database function counts, as row-level security hides the owners' other workspaces from this call.
  const { rows } = await sql<{ count: number }>`
    select rented_under(${workspaceId}, ${owners}, ${hasGpu}, ${USES_NO_QUOTA}) as count`.execute(db);
  return rows[0]!.count;
}
