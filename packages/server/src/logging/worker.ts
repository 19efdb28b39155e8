import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { deleteOldLines } from './retention.ts';

const EVERY_MS = 3_600_000;

/** Deletes log lines older than 30 days, every hour. */
export function startLogRetention(ctx: Context): { stop(): Promise<void> } {
  return repeatEvery(ctx, EVERY_MS, 'log retention', () => deleteOldLines(ctx.db));
}
