import { isSharedQuota, type Quota, type WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { lockAvailableBalance } from '../billing/spendOrder.ts';
import type { Db } from '../db/schema.ts';
import { lockOwners } from './owners.ts';

/**
 * Holds what counts against a plan until the transaction ends, so that two calls cannot both take the last place. Free
 * workspaces share their owners' quota, so the owners are locked, and answered; others lock their accounts.
 */
export async function lockPlan(trx: Db, workspace: { id: number } & WorkspacePlan, quota: Quota): Promise<number[]> {
  if (isSharedQuota(workspace, quota)) return lockOwners(trx, workspace.id);
  await lockAvailableBalance(trx, workspace.id);
  return [];
}
