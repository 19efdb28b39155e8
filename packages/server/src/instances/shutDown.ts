import { instanceCan, type RentedStatus } from '@stagi/contract/instances.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import { isId } from '../http/paging.ts';
import { want } from './actions.ts';

const REASON = 'The workspace was disabled by an operator';
/** Nobody has worked on them yet: there is nothing to lose. */
const NEVER_READY: readonly string[] = ['in queue', 'creating'];

type Stopping = Pick<Context, 'log' | 'providers'>;

/**
 * Has the rented servers of a workspace that is being disabled stop, and those given up that never were ready. One that
 * cannot stop runs on, unless it is to be terminated, which costs its data. What is between two states is stopped
 * when it has arrived (`stopLatecomers`).
 */
export async function shutDown(
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
    const { canStop, instance } = stateOf(row);
    const isLost = NEVER_READY.includes(row.status) || (terminate && !canStop);
    if (isLost && instanceCan.terminate(instance).allowed) await want(ctx, trx, 'terminate', row, { reason: REASON });
    else if (instanceCan.stop(instance).allowed) await want(ctx, trx, 'stop', row, { reason: REASON });
  }
}

/** Nobody starts, stops or ends a server of a workspace until the transaction ends. */
export async function holdServers(trx: Db, workspaceId: number): Promise<void> {
  await trx
    .selectFrom('instance')
    .select('id')
    .where(isId('workspace_id', workspaceId))
    .where('closed_at', 'is', null)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** Stops what came to run in a disabled workspace after all: it was rebooting, starting, or out of sight. */
export async function stopLatecomers(ctx: Stopping & Pick<Context, 'db'>): Promise<number[]> {
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
      if (!row || !instanceCan.stop(stateOf(row).instance).allowed) return;
      await want(ctx, trx, 'stop', row, { reason: REASON });
      stopped.push(id);
    });
  return stopped;
}

function stateOf({ status, offer }: Pick<InstanceRow, 'status' | 'offer'>) {
  const canStop = offer?.canStop ?? false;
  return { canStop, instance: { status: status as RentedStatus, canStop } };
}
