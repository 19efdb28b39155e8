import { PLAN_LIMITS } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { lockPlan } from '../memberships/lockPlan.ts';
import { ownersOf } from '../memberships/owners.ts';

interface Workspace {
  id: number;
  plan: Plan;
}

/** Throws when the plan allows no further run today. */
export async function requireRun(trx: Db, workspace: Workspace): Promise<void> {
  const limit = PLAN_LIMITS[workspace.plan].runsPerDay;
  if (!(await hasRunLeft(trx, workspace))) throw refused(NO_RUN_LEFT, { limit: limit! });
}

export const NO_RUN_LEFT = text('Your plan allows {{limit}} task runs a day (UTC)');

/** The same as an answer, with the same locks. */
export async function hasRunLeft(trx: Db, workspace: Workspace): Promise<boolean> {
  const limit = PLAN_LIMITS[workspace.plan].runsPerDay;
  if (limit === null) return true;
  await lockPlan(trx, workspace);
  return (await runsToday(trx, workspace)) < limit;
}

/** Runs since midnight UTC that count against the plan of this workspace. */
export async function runsToday(db: Db, workspace: Workspace): Promise<number> {
  const owners = workspace.plan === 'Free' ? await ownersOf(db, workspace.id) : [];
  // A database function counts, as row-level security hides the owners' other workspaces from this call.
  const { rows } = await sql<{ count: number }>`select task_runs_under(${workspace.id}, ${owners},
    date_trunc('day', clock_timestamp(), 'UTC')) as count`.execute(db);
  return rows[0]!.count;
}
