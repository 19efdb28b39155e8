import type { Plan } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import { lockAvailable } from '../billing/spend.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';

type Kind = 'gpu' | 'cpuOnly';

/** Servers at a time; `null`: as many as one likes. */
const QUOTAS: Record<Plan, Record<Kind, number> | null> = {
  Free: { gpu: 1, cpuOnly: 5 },
  Individual: { gpu: 2, cpuOnly: 10 },
  Team: { gpu: 8, cpuOnly: 40 },
  Enterprise: null,
};

const HOLDS_NOTHING = ['creation failed', 'terminating', 'terminated'];

/**
 * Refuses when the plan does not allow `added` servers more. Free workspaces share their owners' quota: the
 * owners stay locked until the transaction ends, so that rents in two of their workspaces cannot both be the last. Of two
 * rents in a paid one the second waits for the workspace's accounts.
 */
export async function requireQuota(
  trx: Db,
  workspace: { id: number; plan: Plan },
  { hasGpu, added }: { hasGpu: boolean; added: 0 | 1 },
): Promise<void> {
  const kind: Kind = hasGpu ? 'gpu' : 'cpuOnly';
  const limit = QUOTAS[workspace.plan]?.[kind];
  if (limit === undefined) return;
  const owners = workspace.plan === 'Free' ? await lockOwners(trx, workspace.id) : [];
  if (workspace.plan !== 'Free') await lockAvailable(trx, workspace.id);
  // Counted by the database itself: of the owners' other workspaces this call sees nothing.
  const { rows } = await sql<{ count: number }>`
    select rented_under(${workspace.id}, ${owners}, ${hasGpu}, ${HOLDS_NOTHING}) as count`.execute(trx);
  if (rows[0]!.count + added <= limit) return;
  throw hasGpu
    ? refused('GPU servers that your plan allows at a time: {{limit}}', { limit })
    : refused('CPU-only servers that your plan allows at a time: {{limit}}', { limit });
}

async function lockOwners(trx: Db, workspaceId: number): Promise<number[]> {
  const owners = await trx
    .selectFrom('app_user')
    .select('id')
    .where('id', 'in', (eb) =>
      eb.selectFrom('membership').select('user_id').where('workspace_id', '=', workspaceId).where('role', '=', 'Owner'),
    )
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  return owners.map(({ id }) => id);
}
