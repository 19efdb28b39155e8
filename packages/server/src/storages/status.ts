import { STORAGE_MOVES, type StorageStatus } from '@stagi/contract/storageRules.ts';
import { sql } from 'kysely';
import { syncStorageSegment } from '../billing/storageSegments.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';

interface StatusEvidence {
  /** Shown to people. `undefined` keeps the old reason; a change of status clears it unless a new one is given. */
  reason?: string | null;
  /** When the transition must have ended. A change of status clears it unless a new one is given. */
  deadline?: Date | null;
}

/**
 * The only place that changes the status of a storage. `terminating` also changes what is desired and wakes the worker.
 * Returns false, and changes nothing, when the contract's table does not allow the transition.
 */
export async function transitionStorage(
  ctx: Pick<Context, 'log'>,
  trx: Db,
  storageId: number,
  to: StorageStatus,
  { reason, deadline }: StatusEvidence,
): Promise<boolean> {
  const row = await trx
    .selectFrom('storage')
    .select(['id', 'workspace_id', 'status', 'status_reason'])
    .where('id', '=', storageId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) return false;
  if (row.status === to) {
    await trx
      .updateTable('storage')
      .set({ status_reason: reason, status_deadline: deadline, status_seen_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', storageId)
      .execute();
    return true;
  }
  if (!STORAGE_MOVES[row.status].includes(to)) {
    ctx.log.warn({ storageId, from: row.status, to, reason }, 'refused an impossible move of a storage');
    return false;
  }
  await trx
    .updateTable('storage')
    .set({
      status: to,
      status_since: sql<Date>`clock_timestamp()`,
      status_seen_at: sql<Date>`clock_timestamp()`,
      status_deadline: deadline ?? null,
      // Why it was deleted stays known: the notice of a zero balance counts by it.
      status_reason: reason ?? (to === 'deleted' ? row.status_reason : null),
      ...(to === 'deleted' && { closed_at: sql<Date>`clock_timestamp()` }),
      ...(to === 'terminating' && {
        desired: 'gone' as const,
        gen: sql<number>`gen + 1`,
        next_at: sql<Date>`clock_timestamp()`,
      }),
    })
    .where('id', '=', storageId)
    .execute();
  await syncStorageSegment(trx, storageId);
  await announceStorage(trx, row);
  if (to === 'terminating') await announce(trx, 'due', { kind: 'storage' });
  return true;
}

export async function announceStorage(
  db: Db,
  { id, workspace_id }: { id: number; workspace_id: number },
): Promise<void> {
  await announce(db, 'changed', { entity: 'storage', id, workspaceId: workspace_id });
}
