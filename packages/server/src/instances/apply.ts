import type { RentedStatus } from '@stagi/contract/instances.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { revokeNode } from '../daemon-link/enrolment.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import type { Settlement } from './decision.ts';
import { observed } from './evidence.ts';
import { freed, type Lease } from './lease.ts';
import { moveInstance } from './status.ts';
import type { World } from './world.ts';

/** How the effect of this step ended. */
export interface OpEnd {
  id: string;
  state: 'done' | 'failed';
  error?: string;
  /** How the cloud calls what a start made. */
  ref?: string;
}

/**
 * Writes down a step and frees the instance. It repeats what the step was decided on: whose lease expired, or
 * whose instance was wished otherwise or moved meanwhile, changes nothing and gets `false`.
 */
export async function apply(
  ctx: Context,
  lease: Lease,
  world: World,
  settlement: Settlement,
  opEnd?: OpEnd,
): Promise<boolean> {
  const { row, now } = world;
  const to = settlement.to ?? row.status;
  const reached = Object.fromEntries((settlement.reached ?? []).map((step) => [step, now.toISOString()]));
  return inTransaction(ctx.db, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('instance')
      .set({
        ...observed(world),
        ...settlement.set,
        ...freed(settlement.againMs),
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
    if (opEnd) await endOp(trx, opEnd);
    if (settlement.isGone) await forget(ctx, trx, row.id);
    await moveInstance(ctx, trx, row.id, to, {
      reason: settlement.reason,
      seenAt: provenAt(world, to),
      deadline: settlement.to === 'creating' ? row.status_deadline : undefined,
    });
    return true;
  });
}

/** That a server can be used, or cannot, is known from its daemon where it has one; all else from its cloud. */
function provenAt({ now, machine, daemon, traits }: World, status: RentedStatus): Date | undefined {
  if (traits.readiness === 'daemon' && (status === 'online' || status === 'unresponsive')) {
    return daemon?.seenAt ?? undefined;
  }
  return machine ? now : undefined;
}

/** Also for those who lost their lease: how a call ended is a fact, whoever made it. */
export async function endOp(db: Db, { id, state, error, ref }: OpEnd): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('provider_op')
    .set({
      state,
      error: error ?? null,
      finished_at: sql<Date>`clock_timestamp()`,
      // The boot script holds an enrolment: no need to keep it.
      params: sql`params - 'userData' || ${JSON.stringify(ref ? { ref } : {})}::jsonb`,
    })
    .where('id', '=', id)
    .where('state', '=', 'intent')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function forget(ctx: Context, trx: Db, instanceId: number): Promise<void> {
  const open = await trx
    .selectFrom('provider_op')
    .select('id')
    .where('instance_id', '=', instanceId)
    .where('state', '=', 'intent')
    .execute();
  for (const { id } of open) await endOp(trx, { id, state: 'failed', error: 'the cloud shows nothing of it' });
  await revokeNode(ctx, trx, instanceId, 'The server was terminated');
}
