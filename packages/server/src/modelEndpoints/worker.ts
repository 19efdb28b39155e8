import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { checkDueEndpoints } from './checkDue.ts';
import { startModelLoads } from './load.ts';
import { makeWaitingContainers } from './makeWaiting.ts';

const PASS_MS = 2_000;

/** Makes the containers of served models. Any number of these workers may run. */
export function startModelEndpointWorker(ctx: Context): { stop(): Promise<void> } {
  const loop = repeatEvery(ctx, PASS_MS, 'containers of served models', () => makeWaitingContainers(ctx));
  const unsubscribe = ctx.bus.subscribe('changed', ({ entity }) => {
    if (entity === 'instance-rented') loop.now();
  });
  return {
    async stop() {
      unsubscribe();
      await loop.stop();
    },
  };
}

/** Asks the engines of served models, in each process that holds links of servers. */
export function startEngineWatch(ctx: Context): { stop(): Promise<void> } {
  const loads = startModelLoads(ctx);
  const checks = repeatEvery(ctx, PASS_MS, 'checks of served models', async () => {
    if (await checkDueEndpoints(ctx)) loads.now();
  });
  const unsubscribe = ctx.bus.subscribe('changed', ({ entity }) => {
    if (entity === 'docker-container') checks.now();
  });
  return {
    async stop() {
      unsubscribe();
      await Promise.all([checks.stop(), loads.stop()]);
    },
  };
}
