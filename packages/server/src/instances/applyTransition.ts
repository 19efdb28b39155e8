import type { RentedStatus } from '@stagi/contract/instances.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { revokeNode } from '../nodes/enrolment.ts';
import { type Lease, releasedLease } from '../reconcile/lease.ts';
import type { Transition } from './decision.ts';
import { observedChanges } from './observations.ts';
import type { InstanceSnapshot } from './snapshot.ts';
import { transitionInstance } from './status.ts';

/** How a call to the cloud ended. */
export interface OpResult {
  id: string;
  state: 'done' | 'failed';
  error?: string;
  /** The cloud's id of the machine that a start created. */
  ref?: string;
}

/**
 * Stores a transition and releases the lease. The update repeats what the decision was based on: if the lease, the
 * generation (the desired state) or the status has changed, it changes nothing and returns `false`.
 */
export async function applyTransition(
  ctx: Context,
  lease: Lease,
  snapshot: InstanceSnapshot,
  transition: Transition,
  opResult?: OpResult,
): Promise<boolean> {
  const { row, now } = snapshot;
  const to = transition.to ?? row.status;
  const reached = Object.fromEntries((transition.reached ?? []).map((step) => [step, now.toISOString()]));
  return inTransaction(ctx.db, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('instance')
      .set({
        ...observedChanges(snapshot),
        ...transition.set,
        ...releasedLease(transition.requeueAfterMs),
        progress: sql`${JSON.stringify(reached)}::jsonb || progress`,
        attempts: 0,
        last_error: null,
      })
      .where('id', '=', lease.id)
      .where('lock_token', '=', lease.token)
      .where('gen', '=', row.gen)
      .where('status', '=', row.status)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    if (opResult) await finishOp(trx, opResult);
    if (transition.isGone) await releaseMachine(ctx, trx, row.id);
    await transitionInstance(ctx, trx, row.id, to, {
      reason: transition.reason,
      seenAt: statusSeenAt(snapshot, to),
      deadline: transition.to === 'creating' ? row.status_deadline : undefined,
    });
    return true;
  });
}

/** Whether a server is usable is known from its daemon, where it has one; everything else from its cloud. */
function statusSeenAt({ now, machine, daemon, traits }: InstanceSnapshot, status: RentedStatus): Date | undefined {
  if (traits.readiness === 'daemon' && (status === 'online' || status === 'unresponsive')) {
    return daemon?.seenAt ?? undefined;
  }
  return machine ? now : undefined;
}

/** Needs no lease: how a call ended is a fact. Returns whether this call ended the operation. */
export async function finishOp(db: Db, { id, state, error, ref }: OpResult): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('provider_op')
    .set({
      state,
      error: error ?? null,
      finished_at: sql<Date>`clock_timestamp()`,
      // The boot script contains an enrolment token and is no longer needed.
      params: sql`params - 'userData' || ${JSON.stringify(ref ? { ref } : {})}::jsonb`,
    })
    .where('id', '=', id)
    .where('state', '=', 'intent')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function releaseMachine(ctx: Context, trx: Db, instanceId: number): Promise<void> {
  const open = await trx
    .selectFrom('provider_op')
    .select('id')
    .where('instance_id', '=', instanceId)
    .where('state', '=', 'intent')
    .execute();
  for (const { id } of open) await finishOp(trx, { id, state: 'failed', error: 'the cloud shows nothing of it' });
  await revokeNode(ctx, trx, instanceId, text('The server was terminated'));
}
