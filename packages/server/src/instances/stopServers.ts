import { instanceCan, type RentedStatus } from '@stagi/contract/instances.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import { isId } from '../http/paging.ts';
import { setDesired } from './actions.ts';

const REASON = text('The workspace was disabled by an operator');
/** Such a server was never usable, so terminating it loses no data. */
const NEVER_READY: readonly string[] = ['in queue', 'creating'];

type Stopping = Pick<Context, 'log' | 'providers'>;

/**
 * Stops the rented servers of a workspace that is being disabled, and terminates those that were never ready. A server
 * that cannot stop keeps running unless `terminate` is set, which deletes its data. A server in transition is stopped
 * when the transition ends (`stopStartedAfterDisable`).
 */
export async function stopServers(
  ctx: Stopping,
  trx: Db,
  workspaceId: number,
  { terminate }: { terminate: boolean },
): Promise<void> {
  const rows = await trx
    .selectFrom('instance')
    .select(['id', 'status', 'provider', 'offer'])
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', 'rented')
    .where('closed_at', 'is', null)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  for (const row of rows) {
    const { canStop, instance } = actionInput(row);
    const endsForGood = NEVER_READY.includes(row.status) || (terminate && !canStop);
    if (endsForGood && instanceCan.terminate(instance).allowed)
      await setDesired(ctx, trx, 'terminate', row, { reason: REASON });
    else if (instanceCan.stop(instance).allowed) await setDesired(ctx, trx, 'stop', row, { reason: REASON });
  }
}

/** Locks all open servers of a workspace, in the order of their ids, until the transaction ends. */
export async function lockServers(trx: Db, workspaceId: number): Promise<void> {
  await trx
    .selectFrom('instance')
    .select('id')
    .where(isId('workspace_id', workspaceId))
    .where('closed_at', 'is', null)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** Stops servers of disabled workspaces that were in transition or unreachable when the workspace was disabled. */
export async function stopStartedAfterDisable(ctx: Stopping & Pick<Context, 'db'>): Promise<number[]> {
  const stopped: number[] = [];
  const { rows } = await sql<{ id: number }>`
    select i.id from workspace w join instance i on i.workspace_id = w.id
    where w.disabled_at is not null and i.kind = 'rented' and i.closed_at is null and i.desired = 'running'
      and i.status in ('online', 'unresponsive') order by i.id limit 100`.execute(ctx.db);
  for (const { id } of rows)
    await inTransaction(ctx.db, async (trx) => {
      const row = await trx
        .selectFrom('instance')
        .innerJoin('workspace', 'workspace.id', 'instance.workspace_id')
        .select(['instance.id', 'instance.status', 'instance.provider', 'instance.offer'])
        .where('instance.id', '=', id)
        .where('workspace.disabled_at', 'is not', null)
        .forNoKeyUpdate('instance')
        .executeTakeFirst();
      if (!row || !instanceCan.stop(actionInput(row).instance).allowed) return;
      await setDesired(ctx, trx, 'stop', row, { reason: REASON });
      stopped.push(id);
    });
  return stopped;
}

function actionInput({ status, offer }: Pick<InstanceRow, 'status' | 'offer'>) {
  const canStop = offer?.canStop ?? false;
  return { canStop, instance: { status: status as RentedStatus, canStop } };
}
