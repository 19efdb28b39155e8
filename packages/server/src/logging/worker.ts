import { deleteOldRuns } from '../containers/runs.ts';
import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { deleteOldLines, RETENTION_DAYS } from './retention.ts';
import { limitSelfHostedLogs } from './selfHostedLimit.ts';

const EVERY_MS = 3_600_000;
const LIMIT_EVERY_MS = 60_000;

/** Deletes log lines older than 30 days, every hour, and what a self-hosted server holds beyond 10 GB, every minute. */
export function startLogRetention(ctx: Context): { stop(): Promise<void> } {
  const loops = [
    repeatEvery(ctx, EVERY_MS, 'log retention', async () => {
      await deleteOldLines(ctx.db);
      await deleteOldRuns(ctx.db, RETENTION_DAYS);
    }),
    repeatEvery(ctx, LIMIT_EVERY_MS, 'log limit', () => limitSelfHostedLogs(ctx.db)),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
