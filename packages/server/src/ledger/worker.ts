import type { Context } from '../context.ts';
import type { RunningQueue } from '../jobs/queue.ts';
import { createRun, runVerification } from './runs.ts';
import { sealYesterday } from './seal.ts';

/** Seals each day soon after it is over, verifies the whole ledger once a day and whenever an operator asks. */
export async function startLedgerWorker(ctx: Pick<Context, 'db' | 'log'>, queue: RunningQueue): Promise<void> {
  await queue.work('ledger.seal', async () => void (await sealYesterday(ctx)));
  await queue.work('ledger.verify', async (data) => {
    const { runId } = (data as { runId?: string } | null) ?? {};
    await runVerification(ctx, runId === undefined ? await createRun(ctx.db, 'cron', null) : BigInt(runId));
  });
  // Each hour, as the hour after midnight may find the platform stopped.
  await queue.every('ledger.seal', '7 * * * *');
  await queue.every('ledger.verify', '37 1 * * *');
}
