import { deleteOldRuns } from '../containers/runs.ts';
import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { deleteOldLines, RETENTION_DAYS } from './retention.ts';

const EVERY_MS = 3_600_000;

/** Deletes log lines older than 30 days, every hour. */
export function startLogRetention(ctx: Context): { stop(): Promise<void> } {
  return repeatEvery(ctx, EVERY_MS, 'log retention', async () => {
    await deleteOldLines(ctx.db);
    await deleteOldRuns(ctx.db, RETENTION_DAYS);
  });
}
