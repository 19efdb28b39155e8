import type { Plan } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
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
 * owners stay locked until the transaction ends, so that rents in two of their workspaces cannot both be the last.
 */
export async function requireQuota(
  trx: Db,
  workspace: { id: number; plan: Plan },
  { hasGpu, added }: { hasGpu: boolean; added: 0 | 1 },
): Promise<void> {
  const kind: Kind = hasGpu ? 'gpu' : 'cpuOnly';
  const limit = QUOTAS[workspace.plan]?.[kind];
  if (limit === undefined) return;
  const workspaces = workspace.plan === 'Free' ? await lockFreeSiblings(trx, workspace.id) : [workspace.id];
  const { count } = await trx
    .selectFrom('instance')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('workspace_id', 'in', workspaces)
    .where('kind', '=', 'rented')
    .where('closed_at', 'is', null)
    .where('status', 'not in', HOLDS_NOTHING)
    .where(sql<boolean>`(jsonb_typeof(offer -> 'gpu') = 'object') = ${hasGpu}`)
    .executeTakeFirstOrThrow();
  if (count + added <= limit) return;
  throw hasGpu
    ? refused('GPU servers that your plan allows at a time: {{limit}}', { limit })
    : refused('CPU-only servers that your plan allows at a time: {{limit}}', { limit });
}

/** This workspace and every other free one of its owners. */
async function lockFreeSiblings(trx: Db, workspaceId: number): Promise<number[]> {
  const owners = await trx
    .selectFrom('app_user')
    .select('id')
    .where('id', 'in', (eb) =>
      eb.selectFrom('membership').select('user_id').where('workspace_id', '=', workspaceId).where('role', '=', 'Owner'),
    )
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  if (owners.length === 0) return [workspaceId];
  const rows = await trx
    .selectFrom('membership')
    .innerJoin('workspace', 'workspace.id', 'membership.workspace_id')
    .select('workspace.id')
    .distinct()
    .where('role', '=', 'Owner')
    .where('plan', '=', 'Free')
    .where(
      'user_id',
      'in',
      owners.map(({ id }) => id),
    )
    .execute();
  return [...new Set([workspaceId, ...rows.map(({ id }) => id)])];
}
