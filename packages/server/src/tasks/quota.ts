import { limitsOf, type WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { lockPlan } from '../memberships/lockPlan.ts';
import { ownersSharing } from '../memberships/owners.ts';

type Workspace = { id: number } & WorkspacePlan;

/** Throws when the plan allows no further run today. */
export async function requireRun(trx: Db, workspace: Workspace): Promise<void> {
  const limit = limitsOf(workspace).runsPerDay;
  if (!(await hasRunLeft(trx, workspace))) throw refused(NO_RUN_LEFT, { limit: limit! });
}

export const NO_RUN_LEFT = text('Your plan allows {{limit}} task runs a day (UTC)');

/** The same as an answer, with the same locks. */
export async function hasRunLeft(trx: Db, workspace: Workspace): Promise<boolean> {
  const limit = limitsOf(workspace).runsPerDay;
  if (limit === null) return true;
  await lockPlan(trx, workspace, 'runsPerDay');
  return (await runsToday(trx, workspace)) < limit;
}

/** Runs since midnight UTC that count against the plan of this workspace. */
export async function runsToday(db: Db, workspace: Workspace): Promise<number> {
  return countRunsToday(db, workspace.id, await ownersSharing(db, workspace, 'runsPerDay'));
}

export async function countRunsToday(db: Db, workspaceId: number, owners: number[]): Promise<number> {
  // A database function counts, as row-level security hides the owners' other workspaces from this call.
  const { rows } = await sql<{ count: number }>`select task_runs_under(${workspaceId}, ${owners},
    date_trunc('day', clock_timestamp(), 'UTC')) as count`.execute(db);
  return rows[0]!.count;
}
