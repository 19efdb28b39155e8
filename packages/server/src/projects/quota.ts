import { limitsOf, type WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import { lockPlan } from '../memberships/lockPlan.ts';
import { ownersSharing } from '../memberships/owners.ts';

type Workspace = { id: number } & WorkspacePlan;

/** Throws when the plan allows no further project. What is there beyond it, as after a downgrade, stays. */
export async function requireProject(trx: Db, workspace: Workspace): Promise<void> {
  const limit = limitsOf(workspace).projects;
  if (limit === null) return;
  const owners = await lockPlan(trx, workspace, 'projects');
  if ((await countProjects(trx, workspace.id, owners)) < limit) return;
  throw invalid(text('Your plan allows {{limit}} projects. Delete one or upgrade.'), 'title', { limit });
}

/** Projects that count against the plan of this workspace. */
export async function projectsOfPlan(db: Db, workspace: Workspace): Promise<number> {
  return countProjects(db, workspace.id, await ownersSharing(db, workspace, 'projects'));
}

export async function countProjects(db: Db, workspaceId: number, owners: number[]): Promise<number> {
  // A database function counts, as row-level security hides the owners' other workspaces from this call.
  const { rows } = await sql<{ count: number }>`select projects_under(${workspaceId}, ${owners}) as count`.execute(db);
  return rows[0]!.count;
}
