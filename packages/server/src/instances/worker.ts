import { setTimeout as wait } from 'node:timers/promises';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import { text } from '@stagi/contract/text.ts';
import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { ProviderError } from '../providers/provider.ts';
import { applyTransition } from './applyTransition.ts';
import { decide, decideWithoutCloud } from './decide.ts';
import {
  claimLeases,
  expireLeasesOfDeadWorkers,
  type Lease,
  msUntilNextDue,
  releaseLease,
  renewLeases,
  retryLater,
} from './lease.ts';
import { startLivenessCheck } from './liveness.ts';
import { performEffect } from './performEffect.ts';
import { wakeStuckServers } from './reaper.ts';
import { type InstanceSnapshot, loadSnapshot, machineName } from './snapshot.ts';
import { stopStartedAfterDisable } from './stopServers.ts';
import { mayHaveMachine } from './terminate.ts';
import { DUE_SCAN_MS, MAX_CONCURRENT_PER_CLOUD, REAP_INTERVAL_MS } from './timing.ts';

/**
 * The reconcile loop: moves rented instances step by step to their desired state, and checks the liveness of their
 * daemons. Any number of these workers may run on one database.
 */
export function startInstanceWorker(ctx: Context): { stop(): Promise<void> } {
  const leases = new Map<Lease, Promise<void>>();
  const busy = new Map<string, number>();
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;
  let currentPass: Promise<void> | null = null;
  let passRequested = false;
  const { leaseMs } = ctx.config;

  const requestPass = (): void => {
    passRequested = true;
    if (currentPass || stopped) return;
    currentPass = pass().finally(() => {
      currentPass = null;
      if (passRequested) requestPass();
    });
  };
  const pass = async (): Promise<void> => {
    passRequested = false;
    if (timer) clearTimeout(timer);
    // A lease without a worker id is not freed when this process dies.
    await ctx.registration.firstAttempt;
    let waitMs = DUE_SCAN_MS;
    try {
      await claimDue();
      // A due server whose cloud is at its limit is claimed as soon as a step of that cloud ends.
      waitMs = Math.min(waitMs, Math.max(MIN_WAIT_MS, await msUntilNextDue(ctx.db)));
    } catch (error) {
      ctx.log.warn({ err: error }, 'cannot look for due servers now');
    }
    if (!stopped) timer = setTimeout(requestPass, waitMs);
  };
  const claimDue = async (): Promise<void> => {
    const names = [...ctx.providers.keys()];
    for (const name of [...names, OTHER_CLOUDS]) {
      const free = MAX_CONCURRENT_PER_CLOUD - (busy.get(name) ?? 0);
      if (stopped || free === 0) continue;
      for (const lease of await claimLeases(ctx.db, name === OTHER_CLOUDS ? { others: names } : name, {
        limit: free,
        leaseMs,
        owner: ctx.registration.workerId(),
      })) {
        startReconcile(name, lease);
      }
    }
  };
  const startReconcile = (cloud: string, lease: Lease): void => {
    busy.set(cloud, (busy.get(cloud) ?? 0) + 1);
    const done = reconcile(ctx, lease).finally(() => {
      leases.delete(lease);
      busy.set(cloud, (busy.get(cloud) ?? 1) - 1);
      requestPass();
    });
    leases.set(lease, done);
  };

  const unsubscribe = ctx.bus.subscribe('due', ({ kind }) => {
    if (kind === 'instance') requestPass();
  });
  const leaseRenewal = setInterval(() => {
    renewLeases(ctx.db, [...leases.keys()], leaseMs).catch((error: unknown) => {
      ctx.log.warn({ err: error }, 'cannot keep the leases of servers');
    });
  }, leaseMs / 3);
  const liveness = startLivenessCheck(ctx);
  const loops = [
    repeatEvery(ctx, DUE_SCAN_MS, 'freeing abandoned servers', async () => {
      if ((await expireLeasesOfDeadWorkers(ctx.db)) > 0) requestPass();
    }),
    repeatEvery(ctx, REAP_INTERVAL_MS, 'waking forgotten servers', () => wakeStuckServers(ctx), REAP_INTERVAL_MS),
    repeatEvery(ctx, DUE_SCAN_MS, 'stopping servers of disabled workspaces', () => stopStartedAfterDisable(ctx)),
  ];
  requestPass();

  return {
    async stop() {
      stopped = true;
      unsubscribe();
      await Promise.all([liveness.stop(), ...loops.map((loop) => loop.stop())]);
      await currentPass;
      if (timer) clearTimeout(timer);
      await Promise.race([Promise.all(leases.values()), wait(SHUTDOWN_TIMEOUT_MS, null, { ref: false })]);
      clearInterval(leaseRenewal);
    },
  };
}

const MIN_WAIT_MS = 50;

/** Graceful shutdown waits this long for running steps. A step cut off loses nothing: another process takes over its lease. */
const SHUTDOWN_TIMEOUT_MS = 5_000;
/** Stands for all clouds that are no longer configured. */
const OTHER_CLOUDS = '';

/** One step for one instance. Never throws: a failure delays this instance alone. */
async function reconcile(ctx: Context, lease: Lease): Promise<void> {
  try {
    await reconcileStep(ctx, lease);
  } catch (error) {
    const isExpected = error instanceof ProviderError || error instanceof PublicError;
    ctx.log[isExpected ? 'warn' : 'error']({ err: error, instanceId: lease.id }, 'a step for a server failed');
    const message = isExpected ? error.message : text('Unexpected error on this server; trying again');
    await retryLater(ctx.db, lease, message).catch((later: unknown) => {
      // The lease expires, then a worker claims the instance again.
      ctx.log.warn({ err: later, instanceId: lease.id }, 'cannot put a server back');
    });
  }
}

async function reconcileStep(ctx: Context, lease: Lease): Promise<void> {
  crashPoint('worker.claimed');
  const stored = await loadSnapshot(ctx.db, lease.id);
  if (!stored) return releaseLease(ctx.db, lease, null);
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
      if (!(await applyTransition(ctx, lease, withoutMachine, timedOut))) await releaseLease(ctx.db, lease, 0);
      return;
    }
  }
  crashPoint('worker.looked');
  const decision = decide(snapshot);
  if ('effect' in decision) await performEffect(ctx, provider, lease, snapshot, decision.effect);
  else if (!(await applyTransition(ctx, lease, snapshot, decision))) await releaseLease(ctx.db, lease, 0);
  else if (decision.isGone) crashPoint('close.applied');
  crashPoint('worker.applied');
}
