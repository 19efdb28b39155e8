import { setTimeout as wait } from 'node:timers/promises';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import type { Context } from '../context.ts';
import { every } from '../every.ts';
import { PublicError } from '../http/errors.ts';
import { ProviderError } from '../providers/provider.ts';
import { sweepClouds } from '../strays/sweep.ts';
import { apply } from './apply.ts';
import { decide, decideBlind } from './decide.ts';
import { backOff, claim, keepAlive, type Lease, letGo, nextDueMs } from './lease.ts';
import { startLiveness } from './liveness.ts';
import { PER_PROVIDER, REAP_EVERY_MS, RESCAN_MS } from './pace.ts';
import { perform } from './perform.ts';
import { freeAbandoned, showPresence } from './presence.ts';
import { reap } from './reaper.ts';
import { stopLatecomers } from './shutDown.ts';
import { mayExist } from './terminate.ts';
import { loadStored, machineName, type World } from './world.ts';

/**
 * Brings rented instances to what is wished of them, step by step, and watches their daemons. Any number of these
 * may run on one database.
 */
export function startInstanceWorker(ctx: Context): { stop(): Promise<void> } {
  const held = new Map<Lease, Promise<void>>();
  const busy = new Map<string, number>();
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;
  let passing: Promise<void> | null = null;
  let isKicked = false;
  const presence = showPresence(ctx);
  const { leaseMs, sweepMs } = ctx.config;

  const kick = (): void => {
    isKicked = true;
    if (passing || stopped) return;
    passing = pass().finally(() => {
      passing = null;
      if (isKicked) kick();
    });
  };
  const pass = async (): Promise<void> => {
    isKicked = false;
    if (timer) clearTimeout(timer);
    // A lease that bears no number would outlive us.
    await presence.tried;
    let waitMs = RESCAN_MS;
    try {
      await takeDue();
      // Due while every place of its cloud is taken: a place that falls free looks again at once.
      waitMs = Math.min(waitMs, Math.max(LOOK_AGAIN_MS, await nextDueMs(ctx.db)));
    } catch (error) {
      ctx.log.warn({ err: error }, 'cannot look for due servers now');
    }
    if (!stopped) timer = setTimeout(kick, waitMs);
  };
  const takeDue = async (): Promise<void> => {
    const names = [...ctx.providers.keys()];
    for (const name of [...names, UNKNOWN]) {
      const free = PER_PROVIDER - (busy.get(name) ?? 0);
      if (stopped || free === 0) continue;
      for (const lease of await claim(ctx.db, name === UNKNOWN ? { others: names } : name, {
        limit: free,
        leaseMs,
        owner: presence.number(),
      })) {
        take(name, lease);
      }
    }
  };
  const take = (cloud: string, lease: Lease): void => {
    busy.set(cloud, (busy.get(cloud) ?? 0) + 1);
    const done = workOn(ctx, lease).finally(() => {
      held.delete(lease);
      busy.set(cloud, (busy.get(cloud) ?? 1) - 1);
      kick();
    });
    held.set(lease, done);
  };

  const unsubscribe = ctx.bus.subscribe('due', ({ kind }) => {
    if (kind === 'instance') kick();
  });
  const heartbeat = setInterval(() => {
    keepAlive(ctx.db, [...held.keys()], leaseMs).catch((error: unknown) => {
      ctx.log.warn({ err: error }, 'cannot keep the leases of servers');
    });
  }, leaseMs / 3);
  const liveness = startLiveness(ctx);
  const care = [
    every(ctx, RESCAN_MS, 'freeing abandoned servers', async () => {
      if ((await freeAbandoned(ctx.db)) > 0) kick();
    }),
    every(ctx, REAP_EVERY_MS, 'waking forgotten servers', () => reap(ctx), REAP_EVERY_MS),
    every(ctx, RESCAN_MS, 'stopping servers of disabled workspaces', () => stopLatecomers(ctx)),
    every(ctx, sweepMs, 'the sweep of the clouds', () => sweepClouds(ctx), sweepMs),
  ];
  kick();

  return {
    async stop() {
      stopped = true;
      unsubscribe();
      await Promise.all([liveness.stop(), ...care.map((loop) => loop.stop())]);
      await passing;
      if (timer) clearTimeout(timer);
      await Promise.race([Promise.all(held.values()), wait(STOP_MS, null, { ref: false })]);
      clearInterval(heartbeat);
      await presence.close();
    },
  };
}

const LOOK_AGAIN_MS = 50;

/** Whom a cloud keeps waiting longer loses nothing: another process takes up the lease. */
const STOP_MS = 5_000;
/** Stands for all clouds that are not configured any more. */
const UNKNOWN = '';

/** One step for one instance. Never throws: what fails delays this instance alone. */
async function workOn(ctx: Context, lease: Lease): Promise<void> {
  try {
    await step(ctx, lease);
  } catch (error) {
    const isExpected = error instanceof ProviderError || error instanceof PublicError;
    ctx.log[isExpected ? 'warn' : 'error']({ err: error, instanceId: lease.id }, 'a step for a server failed');
    const message = isExpected
      ? error.message
      : 'Something unexpected keeps this server from going on; it is tried again';
    await backOff(ctx.db, lease, message).catch((later: unknown) => {
      // Its lease expires, then somebody takes it up again.
      ctx.log.warn({ err: later, instanceId: lease.id }, 'cannot put a server back');
    });
  }
}

async function step(ctx: Context, lease: Lease): Promise<void> {
  crashPoint('worker.claimed');
  const stored = await loadStored(ctx.db, lease.id);
  if (!stored) return letGo(ctx.db, lease, null);
  const provider = ctx.providers.get(stored.row.provider ?? '');
  if (!provider) throw new ProviderError('retryable', `The cloud ${stored.row.provider} is not configured any more`);
  const blind: World = { ...stored, traits: provider.traits, machine: null };
  let world = blind;
  if (mayExist(stored)) {
    try {
      world = { ...blind, machine: await provider.look(machineName(ctx.config.environment, world.row)) };
    } catch (error) {
      const late = decideBlind(blind);
      if (!late || !(error instanceof ProviderError)) throw error;
      if (!(await apply(ctx, lease, blind, late))) await letGo(ctx.db, lease, 0);
      return;
    }
  }
  crashPoint('worker.looked');
  const decision = decide(world);
  if ('effect' in decision) await perform(ctx, provider, lease, world, decision.effect);
  else if (!(await apply(ctx, lease, world, decision))) await letGo(ctx.db, lease, 0);
  else if (decision.isGone) crashPoint('close.applied');
  crashPoint('worker.applied');
}
