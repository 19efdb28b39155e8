import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { sweepClouds } from './sweep.ts';

/** Looks for orphaned machines every `SWEEP_SECONDS`. */
export function startStraySweep(ctx: Context): { stop(): Promise<void> } {
  const { sweepMs } = ctx.config;
  return repeatEvery(ctx, sweepMs, 'the sweep of the clouds', () => sweepClouds(ctx), sweepMs);
}
