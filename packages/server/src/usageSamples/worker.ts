import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { dropPartitions, makePartitions } from './partitions.ts';
import { thinSamples } from './thin.ts';

const EVERY_MS = 30_000;

/** Thins the samples of servers and containers, and deletes those that are older than they are kept. */
export function startUsageSampleWorker(ctx: Context): { stop(): Promise<void> } {
  return repeatEvery(ctx, EVERY_MS, 'keeping samples', async () => {
    const now = ctx.clock.now();
    await makePartitions(ctx.db, now);
    await thinSamples(ctx.db, now);
    await dropPartitions(ctx.db, now);
  });
}
