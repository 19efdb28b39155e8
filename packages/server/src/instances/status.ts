import { RENTED_MOVES, SELF_HOSTED_MOVES } from '@stagi/contract/instances.ts';
import { sql } from 'kysely';
import { followSegments } from '../billing/segments.ts';
import { announce, type Topics } from '../bus/bus.ts';
import { instanceMoved } from '../containers/followInstance.ts';
import type { Context } from '../context.ts';
import type { InstanceTable } from '../db/computeTables.ts';
import type { Db } from '../db/schema.ts';
import { recordActivity } from './activity.ts';

export interface Evidence {
  /** Why, for people; `undefined` leaves what was said. A real move clears it unless it says something. */
  reason?: string | null;
  /** When the proof of this status was seen. */
  seenAt?: Date;
  /** By when a transition must be over. A real move clears it unless it sets one. */
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
 * The one door through which the status of an instance changes. The same status again only refreshes
 * its evidence. Answers false, and changes nothing, when the move is not in the contract's table.
 */
export async function moveInstance(
  ctx: Pick<Context, 'log'>,
  trx: Db,
  instanceId: number,
  to: string,
  evidence: Evidence,
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
    if (row.kind === 'rented') await followSegments(trx, instanceId);
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
  if (row.kind === 'rented') await followSegments(trx, instanceId);
  await recordActivity(trx, instanceId, { kind: 'status', actorId, from: row.status, to, detail: reason });
  await instanceMoved(trx, instanceId, to);
  await announceInstance(trx, row);
  return true;
}

type Named = Pick<InstanceTable, 'workspace_id' | 'kind'> & { id: number };

export async function announceInstance(db: Db, instance: Named): Promise<void> {
  await announce(db, 'changed', changeOf(instance));
}

/** What screens are told of a change of an instance. */
export function changeOf({ id, workspace_id, kind }: Named): Topics['changed'] {
  return { entity: kind === 'rented' ? 'instance-rented' : 'self-hosted-instance', id, workspaceId: workspace_id };
}
