import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { ContainerRow } from '../db/schema.ts';
import { every } from '../every.ts';
import { forgetOldLines } from '../logging/retention.ts';
import { failCreation } from './report.ts';
import { moveContainer } from './status.ts';

const DEADLINES_EVERY_MS = 5_000;
/** Time in which the platform itself was down does not count: daemons first get the time to come back. */
const DAEMONS_COME_BACK_MS = 60_000;
const RETENTION_EVERY_MS = 3_600_000;
const AT_ONCE = 100;

/** Ends transitions that outlived their deadline, and log lines that outlived their keeping. */
export function startContainerWorker(ctx: Context): { stop(): Promise<void> } {
  const loops = [
    every(ctx, DEADLINES_EVERY_MS, 'container deadlines', () => failOverdue(ctx), DAEMONS_COME_BACK_MS),
    every(ctx, RETENTION_EVERY_MS, 'log retention', () => forgetOldLines(ctx.db)),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/** Each in a transaction of its own that looks again: the daemon may have answered in this moment. */
export async function failOverdue(ctx: Pick<Context, 'db' | 'log'>): Promise<void> {
  const overdue = await ctx.db
    .selectFrom('container')
    .select(['id', 'status'])
    .where('status_deadline', '<', sql<Date>`now()`)
    .where('deleted_at', 'is', null)
    .orderBy('status_deadline')
    .limit(AT_ONCE)
    .execute();
  for (const { id } of overdue) {
    try {
      await inTransaction(ctx.db, async (trx) => {
        const row = await trx
          .selectFrom('container')
          .select('status')
          .where('id', '=', id)
          .where('status_deadline', '<', sql<Date>`now()`)
          .forNoKeyUpdate()
          .executeTakeFirst();
        if (row?.status === 'creating') await failCreation(trx, id, 'It was not ready in time');
        else if (row) await moveContainer(trx, id, 'failed', { reason: overdueReason(row.status) });
      });
    } catch (error) {
      ctx.log.error({ err: error, containerId: id }, 'cannot end an overdue transition');
    }
  }
}

function overdueReason(status: ContainerRow['status']): string {
  switch (status) {
    case 'stopping':
      return 'It did not stop in time';
    case 'rebooting':
      return 'It did not restart in time';
    default:
      return 'It did not start in time';
  }
}
