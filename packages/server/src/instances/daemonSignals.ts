import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { commitAsync } from '../db/durability.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import { announceInstance, transitionInstance } from './status.ts';

type Ctx = Pick<Context, 'db' | 'log'>;

/** A daemon connected and sent its hello. The link has stored its content already. */
export async function daemonConnected(ctx: Ctx, instanceId: number): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const row = await lockRow(trx, instanceId);
    if (row) await applyDaemonSighting(ctx, trx, row);
  });
}

/**
 * Heartbeats of several daemons; the link has stored them already. Cheap while no status changes, and not synced to disk.
 * Rows locked by others are skipped here and handled one by one, to avoid a deadlock: this statement locks many servers.
 */
export async function recordHeartbeats(ctx: Ctx, instanceIds: readonly number[]): Promise<void> {
  if (instanceIds.length === 0) return;
  const { rows } = await sql<{ id: number }>`
    with online as (
      select id from instance where id = any(${[...instanceIds]}::int[]) and status = 'online' for no key update skip locked)
    update instance i set status_seen_at = now() from online, ${commitAsync}
    where i.id = online.id returning i.id`.execute(ctx.db);
  const online = new Set(rows.map(({ id }) => id));
  for (const id of instanceIds) if (!online.has(id)) await daemonConnected(ctx, id);
}

/** The link disconnected. The status changes only after 40 s without a heartbeat; screens are refreshed at once. */
export async function daemonDisconnected(ctx: Ctx, instanceId: number): Promise<void> {
  const row = await ctx.db
    .selectFrom('instance')
    .select(['id', 'workspace_id', 'kind'])
    .where('id', '=', instanceId)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  if (row) await announceInstance(ctx.db, row);
}

type SignalledInstance = Pick<InstanceRow, 'id' | 'kind' | 'status' | 'progress'>;

async function applyDaemonSighting(ctx: Ctx, trx: Db, row: SignalledInstance): Promise<void> {
  const seenAt = await databaseNow(trx);
  switch (row.status) {
    case 'awaiting setup':
    case 'offline':
    case 'unresponsive':
    case 'online':
      await transitionInstance(ctx, trx, row.id, 'online', { seenAt, reason: null });
      return;
    case 'creating':
    case 'powering on':
    case 'rebooting':
    case 'error':
      await recordDaemonStep(trx, row, seenAt);
      await reconcileNow(trx, row.id);
      return;
    // Other statuses do not depend on the daemon: the machine is stopping, being deleted or not created yet.
    default:
  }
}

/** The decision also needs the cloud's view, and only the worker asks the cloud. */
async function reconcileNow(trx: Db, instanceId: number): Promise<void> {
  await trx.updateTable('instance').set({ next_at: sql<Date>`now()` }).where('id', '=', instanceId).execute();
  await announce(trx, 'due', { kind: 'instance' });
}

async function recordDaemonStep(trx: Db, row: SignalledInstance, at: Date): Promise<void> {
  if (row.status !== 'creating' || row.progress.daemon) return;
  await trx
    .updateTable('instance')
    .set({ progress: JSON.stringify({ ...row.progress, daemon: at.toISOString() }) })
    .where('id', '=', row.id)
    .execute();
}

function lockRow(trx: Db, instanceId: number): Promise<SignalledInstance | undefined> {
  return trx
    .selectFrom('instance')
    .select(['id', 'kind', 'status', 'progress'])
    .where('id', '=', instanceId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export async function databaseNow(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  return rows[0]!.now;
}
