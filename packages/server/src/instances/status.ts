import { RENTED_MOVES, SELF_HOSTED_MOVES } from '@stagi/contract/instances.ts';
import { sql } from 'kysely';
import { syncSegments } from '../billing/segments.ts';
import { announce, type Topics } from '../bus/bus.ts';
import { applyServerStatus } from '../containers/serverStatus.ts';
import type { Context } from '../context.ts';
import type { InstanceTable } from '../db/computeTables.ts';
import type { Db } from '../db/schema.ts';
import { recordActivity } from './activity.ts';

export interface StatusEvidence {
  /** Shown to people. `undefined` keeps the old reason; a change of status clears it unless a new one is given. */
  reason?: string | null;
  /** When this status was observed. */
  seenAt?: Date;
  /** When the transition must have ended. A change of status clears it unless a new one is given. */
  deadline?: Date | null;
  /** The member who asked for it. */
  actorId?: number;
}

const MOVES: Record<InstanceTable['kind'], Record<string, readonly string[]>> = {
  rented: RENTED_MOVES,
  'self-hosted': SELF_HOSTED_MOVES,
};
const FINAL = ['terminated', 'deleted'];

/**
 * The only place that changes the status of an instance. The same status again only refreshes reason, time and deadline.
 * Returns false, and changes nothing, when the contract's table does not allow the transition.
 */
export async function transitionInstance(
  ctx: Pick<Context, 'log'>,
  trx: Db,
  instanceId: number,
  to: string,
  evidence: StatusEvidence,
): Promise<boolean> {
  const row = await trx
    .selectFrom('instance')
    .select(['id', 'workspace_id', 'kind', 'status'])
    .where('id', '=', instanceId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) return false;
  const { reason, seenAt, deadline, actorId } = evidence;
  if (row.status === to) {
    await trx
      .updateTable('instance')
      .set({ status: to, status_reason: reason, status_seen_at: seenAt, status_deadline: deadline })
      .where('id', '=', instanceId)
      .execute();
    if (row.kind === 'rented') await syncSegments(trx, instanceId);
    return true;
  }
  if (!MOVES[row.kind][row.status]?.includes(to)) {
    ctx.log.warn({ instanceId, from: row.status, to, reason }, 'refused an impossible move of an instance');
    return false;
  }
  await trx
    .updateTable('instance')
    .set({
      status: to,
      status_since: sql<Date>`clock_timestamp()`,
      status_seen_at: seenAt,
      status_deadline: deadline ?? null,
      status_reason: reason ?? null,
      closed_at: FINAL.includes(to) ? sql<Date>`clock_timestamp()` : undefined,
    })
    .where('id', '=', instanceId)
    .execute();
  if (row.kind === 'rented') await syncSegments(trx, instanceId);
  await recordActivity(trx, instanceId, { kind: 'status', actorId, from: row.status, to, detail: reason });
  await applyServerStatus(trx, instanceId, to);
  await announceInstance(trx, row);
  return true;
}

type InstanceRef = Pick<InstanceTable, 'workspace_id' | 'kind'> & { id: number };

export async function announceInstance(db: Db, instance: InstanceRef): Promise<void> {
  await announce(db, 'changed', changedEvent(instance));
}

/** The event that tells screens of a change of an instance. */
export function changedEvent({ id, workspace_id, kind }: InstanceRef): Topics['changed'] {
  return { entity: kind === 'rented' ? 'instance-rented' : 'self-hosted-instance', id, workspaceId: workspace_id };
}
