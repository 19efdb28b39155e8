import { crashPoint } from '@stagi/contract/crashPoints.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { ProviderError } from '../providers/provider.ts';
import { type Lease, releaseLease } from '../reconcile/lease.ts';
import { DUE_SCAN_MS, startReconcileLoop } from '../reconcile/reconcileLoop.ts';
import { applyTransition } from './applyTransition.ts';
import { decide, decideWithoutCloud } from './decide.ts';
import { startLivenessCheck } from './liveness.ts';
import { performEffect } from './performEffect.ts';
import { type InstanceSnapshot, loadSnapshot, machineName } from './snapshot.ts';
import { stopStartedAfterDisable } from './stopServers.ts';
import { mayHaveMachine } from './terminate.ts';
import { MAX_CONCURRENT_PER_CLOUD } from './timing.ts';

/**
 * Moves rented instances step by step to their desired state, and checks the liveness of their daemons. Any number of
 * these workers may run on one database.
 */
export function startInstanceWorker(ctx: Context): { stop(): Promise<void> } {
  const workers = [
    startReconcileLoop(ctx, {
      table: 'instance',
      plural: 'servers',
      groups: () => cloudGroups([...ctx.providers.keys()]),
      step: (lease) => reconcileStep(ctx, lease),
      isExpected: (error) => error instanceof ProviderError,
      stuck: STUCK_SERVER,
    }),
    startLivenessCheck(ctx),
    repeatEvery(ctx, DUE_SCAN_MS, 'stopping servers of disabled workspaces', () => stopStartedAfterDisable(ctx)),
  ];
  return {
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
    },
  };
}

/** Servers of one cloud each, and those of clouds that are no longer configured. */
export function cloudGroups(clouds: readonly string[]) {
  const limit = MAX_CONCURRENT_PER_CLOUD;
  const group = (name: string, condition: RawBuilder<unknown>) => ({
    name,
    condition: sql`kind = 'rented' and ${condition}`,
    limit,
  });
  return [
    ...clouds.map((cloud) => group(cloud, sql`provider = ${cloud}`)),
    group('', sql`provider <> all(${clouds}::text[])`),
  ];
}

/** SQL: an operation open for 5 minutes, a machine of a closed server, or a transition of more than 30. */
export const STUCK_SERVER = sql`kind = 'rented' and closed_at is null and (
    exists (select 1 from provider_op where instance_id = instance.id and state = 'intent'
      and created_at < now() - interval '5 minutes')
    or (provider_ref is not null and status_since < now() - interval '5 minutes')
    or (status not in ('creation failed', 'stopped') and status_since < now() - interval '30 minutes')
  )`;

async function reconcileStep(ctx: Context, lease: Lease): Promise<void> {
  crashPoint('worker.claimed');
  const stored = await loadSnapshot(ctx.db, lease.id);
  if (!stored) return releaseLease(ctx.db, 'instance', lease, null);
  const provider = ctx.providers.get(stored.row.provider ?? '');
  if (!provider) throw new ProviderError('retryable', `The cloud ${stored.row.provider} is not configured any more`);
  const withoutMachine: InstanceSnapshot = { ...stored, traits: provider.traits, machine: null };
  let snapshot = withoutMachine;
  if (mayHaveMachine(stored)) {
    try {
      snapshot = {
        ...withoutMachine,
        machine: await provider.getMachine(machineName(ctx.config.environment, snapshot.row)),
      };
    } catch (error) {
      const timedOut = decideWithoutCloud(withoutMachine);
      if (!timedOut || !(error instanceof ProviderError)) throw error;
      if (!(await applyTransition(ctx, lease, withoutMachine, timedOut)))
        await releaseLease(ctx.db, 'instance', lease, 0);
      return;
    }
  }
  crashPoint('worker.looked');
  const decision = decide(snapshot);
  if ('effect' in decision) await performEffect(ctx, provider, lease, snapshot, decision.effect);
  else if (!(await applyTransition(ctx, lease, snapshot, decision))) await releaseLease(ctx.db, 'instance', lease, 0);
  else if (decision.isGone) crashPoint('close.applied');
  crashPoint('worker.applied');
}
