import { PLAN_LIMITS } from '@stagi/contract/planLimits.ts';
import { GB } from '@stagi/contract/storageRules.ts';
import { text } from '@stagi/contract/text.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import { lockPlan } from '../memberships/lockPlan.ts';
import { ownersOf } from '../memberships/owners.ts';

/** Throws when `addedGb` more exceed the quota of the plan. */
export async function requireStorageQuota(
  trx: Db,
  workspace: { id: number; plan: Plan },
  addedGb: number,
): Promise<void> {
  const limit = PLAN_LIMITS[workspace.plan].storageGb;
  if (limit === null) return;
  await lockPlan(trx, workspace);
  const used = await planUse(trx, workspace);
  if (used + BigInt(addedGb) * BigInt(GB) <= BigInt(limit) * BigInt(GB)) return;
  throw invalid(text('Your plan allows {{limit}} GB of storage in total; {{used}} GB are taken'), 'sizeGb', {
    limit,
    used: Math.ceil(Number(used) / (GB / 100)) / 100,
  });
}

/** Bytes that the plan leaves for storages and repositories; null: unlimited. */
export async function planRoomBytes(db: Db, workspace: { id: number; plan: Plan }): Promise<number | null> {
  const limit = PLAN_LIMITS[workspace.plan].storageGb;
  if (limit === null) return null;
  return Math.max(0, limit * GB - Number(await planUse(db, workspace)));
}

/** Bytes that count against the quota of this workspace: the chosen sizes of storages, and what repositories take. */
export async function planUse(db: Db, workspace: { id: number; plan: Plan }): Promise<bigint> {
  const owners = workspace.plan === 'Free' ? await ownersOf(db, workspace.id) : [];
  // Database functions count, as row-level security hides the owners' other workspaces from this call.
  const { rows } = await sql<{ gb: number; bytes: bigint }>`select storage_gb_under(${workspace.id}, ${owners}) as gb,
    repository_bytes_under(${workspace.id}, ${owners}) as bytes`.execute(db);
  return BigInt(rows[0]!.gb) * BigInt(GB) + rows[0]!.bytes;
}
