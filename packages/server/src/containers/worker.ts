import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { ContainerRow } from '../db/schema.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { failCreation } from './daemonReports.ts';
import { endLoops } from './restarts.ts';
import { transitionContainer } from './status.ts';

const CHECK_MS = 5_000;
/** After a start of the platform daemons get this long to reconnect before deadlines count. */
const RECONNECT_GRACE_MS = 60_000;
const MAX_PER_PASS = 100;

/**
 * Fails transitions whose deadline has passed, with the error of the step that was tried again, if any. Ends the loops of
 * containers that are steady by now.
 */
export function startContainerWorker(ctx: Context): { stop(): Promise<void> } {
  const deadlines = repeatEvery(ctx, CHECK_MS, 'container deadlines', () => failOverdue(ctx), RECONNECT_GRACE_MS);
  const restarts = repeatEvery(ctx, CHECK_MS, 'container restarts', () => endLoops(ctx.db));
  return {
    async stop() {
      await Promise.all([deadlines.stop(), restarts.stop()]);
    },
  };
}

/** Each container in its own transaction that repeats the condition: the daemon may have answered meanwhile. */
export async function failOverdue(ctx: Pick<Context, 'db' | 'log'>): Promise<void> {
  const overdue = await ctx.db
    .selectFrom('container')
    .select(['id', 'status'])
    .where('status_deadline', '<', sql<Date>`now()`)
    .where('deleted_at', 'is', null)
    .orderBy('status_deadline')
    .limit(MAX_PER_PASS)
    .execute();
  for (const { id } of overdue) {
    try {
      await inTransaction(ctx.db, async (trx) => {
        const row = await trx
          .selectFrom('container')
          .select(['status', 'failed_step', 'edit_failed_step'])
          .where('id', '=', id)
          .where('status_deadline', '<', sql<Date>`now()`)
          .forNoKeyUpdate()
          .executeTakeFirst();
        if (!row) return;
        const reason = row.failed_step?.cause ?? row.edit_failed_step?.cause ?? overdueReason(row.status);
        if (row.status === 'creating') await failCreation(trx, id, reason);
        else await transitionContainer(trx, id, 'failed', { reason });
      });
    } catch (error) {
      ctx.log.error({ err: error, containerId: id }, 'cannot end an overdue transition');
    }
  }
}

function overdueReason(status: ContainerRow['status']): string {
  switch (status) {
    case 'creating':
      return text('It was not ready in time');
    case 'stopping':
      return text('It did not stop in time');
    case 'rebooting':
      return text('It did not restart in time');
    default:
      return text('It did not start in time');
  }
}
