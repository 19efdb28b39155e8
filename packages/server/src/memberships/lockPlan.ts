import type { Plan } from '@stagi/contract/user.ts';
import { lockAvailableBalance } from '../billing/spendOrder.ts';
import type { Db } from '../db/schema.ts';
import { lockOwners } from './owners.ts';

/**
 * Holds what counts against a plan until the transaction ends, so that two calls cannot both take the last place. Free
 * workspaces share their owners' quota, so the owners are locked, and answered; a paid one locks its accounts.
 */
export async function lockPlan(trx: Db, workspace: { id: number; plan: Plan }): Promise<number[]> {
  if (workspace.plan === 'Free') return lockOwners(trx, workspace.id);
  await lockAvailableBalance(trx, workspace.id);
  return [];
}
