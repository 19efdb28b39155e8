import { limitsOf, type WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { GB } from '@stagi/contract/storageRules.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import { lockPlan } from '../memberships/lockPlan.ts';
import { ownersSharing } from '../memberships/owners.ts';

type Workspace = { id: number } & WorkspacePlan;

/** Throws when `addedGb` more exceed the quota of the plan. */
export async function requireStorageQuota(trx: Db, workspace: Workspace, addedGb: number): Promise<void> {
  const limit = limitsOf(workspace).storageGb;
  if (limit === null) return;
  await lockPlan(trx, workspace, 'storageGb');
  const used = await planUse(trx, workspace);
  if (used + BigInt(addedGb) * BigInt(GB) <= BigInt(limit) * BigInt(GB)) return;
  throw invalid(text('Your plan allows {{limit}} GB of storage in total; {{used}} GB are taken'), 'sizeGb', {
    limit,
    used: Math.ceil(Number(used) / (GB / 100)) / 100,
  });
}

/** Bytes that the plan leaves for storages and repositories; null: unlimited. */
export async function planRoomBytes(db: Db, workspace: Workspace): Promise<number | null> {
  const limit = limitsOf(workspace).storageGb;
  if (limit === null) return null;
  return Math.max(0, limit * GB - Number(await planUse(db, workspace)));
}

/** Bytes that count against the quota of this workspace: the chosen sizes of storages, and what repositories take. */
export async function planUse(db: Db, workspace: Workspace): Promise<bigint> {
  return countStoredBytes(db, workspace.id, await ownersSharing(db, workspace, 'storageGb'));
}

export async function countStoredBytes(db: Db, workspaceId: number, owners: number[]): Promise<bigint> {
  // Database functions count, as row-level security hides the owners' other workspaces from this call.
  const { rows } = await sql<{ gb: number; bytes: bigint }>`select storage_gb_under(${workspaceId}, ${owners}) as gb,
    repository_bytes_under(${workspaceId}, ${owners}) as bytes`.execute(db);
  return BigInt(rows[0]!.gb) * BigInt(GB) + rows[0]!.bytes;
}
