import { crashPoint } from '@stagi/contract/crashPoints.ts';
import { instanceCan, type RentedStatus } from '@stagi/contract/instances.ts';
import type { Ref } from '@stagi/contract/page.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { requireOneHour } from '../billing/rentGate.ts';
import { endZeroBalance } from '../billing/zero.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { lockInstance } from './find.ts';
import { requireQuota } from './quota.ts';
import { type StatusEvidence, transitionInstance } from './status.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } & WorkspacePlan };
type Action = keyof typeof instanceCan;

const ACTIONS: Record<Action, { to: RentedStatus; desired: InstanceRow['desired']; hasDeadline: boolean }> = {
  start: { to: 'powering on', desired: 'running', hasDeadline: true },
  stop: { to: 'powering off', desired: 'stopped', hasDeadline: true },
  reboot: { to: 'rebooting', desired: 'running', hasDeadline: true },
  // No deadline: it ends only when the cloud no longer shows the machine.
  terminate: { to: 'terminating', desired: 'gone', hasDeadline: false },
};

/** Checks and stores a requested action; the worker carries it out. Returns the instance's id. */
export async function requestAction(ctx: Caller, action: Action, ref: Ref): Promise<number> {
  return inTransaction(ctx.db, async (trx) => {
    const row = await lockInstance(trx, ctx.workspace.id, 'rented', ref);
    const provider = ctx.providers.get(row.provider ?? '');
    const verdict = instanceCan[action]({
      status: row.status as RentedStatus,
      canStop: row.offer?.canStop ?? false,
    });
    if (!verdict.allowed) throw refused(verdict.reason);
    if (action === 'reboot' && provider && !provider.reboot)
      throw refused(text('This provider cannot reboot a server'));
    if (action === 'start') await requireStartAllowed(trx, ctx, row);
    await setDesired(ctx, trx, action, row, { actorId: ctx.user.id });
    crashPoint(`instance-rented/${action}.stored`);
    return row.id;
  });
}

/** Stores the desired state. The caller has locked the instance and checked that the action is allowed. */
export async function setDesired(
  ctx: Pick<Context, 'log' | 'providers'>,
  trx: Db,
  action: Action,
  row: Pick<InstanceRow, 'id' | 'provider'>,
  {
    isHeld: byZeroBalance = false,
    ...evidence
  }: Pick<StatusEvidence, 'actorId' | 'reason'> & {
    /** The action comes from a zero balance; a later credit may start the server again. */
    isHeld?: boolean;
  },
): Promise<void> {
  const { to, desired, hasDeadline } = ACTIONS[action];
  await trx
    .updateTable('instance')
    .set((eb) => ({
      desired,
      gen: eb('gen', '+', 1),
      reboot_wanted: action === 'reboot' ? eb('reboot_wanted', '+', 1) : undefined,
      // After an action of a person the server is no longer one that a zero balance stopped.
      zero_stopped_at: byZeroBalance ? undefined : null,
      attempts: 0,
      last_error: null,
      misses: 0,
      missed_at: null,
      next_at: sql<Date>`now()`,
    }))
    .where('id', '=', row.id)
    .execute();
  const deadlineMs = ctx.providers.get(row.provider ?? '')?.traits.deadlineMs ?? DEFAULT_DEADLINE_MS;
  const deadline = hasDeadline ? await deadlineIn(trx, deadlineMs) : null;
  await transitionInstance(ctx, trx, row.id, to, { ...evidence, deadline });
  await announce(trx, 'due', { kind: 'instance' });
}

const DEFAULT_DEADLINE_MS = 10 * 60_000;

/** Uses the database's clock, as the worker does when it compares. */
async function deadlineIn(trx: Db, ms: number): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() + ${`${ms} milliseconds`}::interval as at`.execute(
    trx,
  );
  return rows[0]!.at;
}

async function requireStartAllowed(trx: Db, ctx: Caller, row: InstanceRow): Promise<void> {
  await requireQuota(trx, ctx.workspace, { hasGpu: row.offer?.gpu != null, added: 0 });
  await requireOneHour(trx, ctx.workspace.id, {
    pricePerHour: (row.price_per_hour ?? 0n) - (row.stopped_price_per_hour ?? 0n),
    canStop: row.offer?.canStop ?? false,
  });
  await endZeroBalance(trx, ctx.workspace.id, { resumesAll: false });
}
