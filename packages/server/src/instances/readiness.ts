import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { committedSoon } from '../db/durability.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import { announceInstance, moveInstance } from './status.ts';

type Ctx = Pick<Context, 'db' | 'log'>;

/** A daemon came and told about its machine; the link has stored that already. */
export async function daemonHello(ctx: Ctx, instanceId: number): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const row = await lock(trx, instanceId);
    if (row) await heard(ctx, trx, row);
  });
}

/**
 * Signs of life; the link has stored them already. Cheap while nothing changes, and lost with nothing else. Several
 * servers are locked at once, so that none is waited for: whose row is held at this moment comes by itself.
 */
export async function daemonBeats(ctx: Ctx, instanceIds: readonly number[]): Promise<void> {
  if (instanceIds.length === 0) return;
  const { rows } = await sql<{ id: number }>`
    with online as (
      select id from instance where id = any(${[...instanceIds]}::int[]) and status = 'online' for no key update skip locked)
    update instance i set status_seen_at = now() from online, ${committedSoon}
    where i.id = online.id returning i.id`.execute(ctx.db);
  const online = new Set(rows.map(({ id }) => id));
  for (const id of instanceIds) if (!online.has(id)) await daemonHello(ctx, id);
}

/** The link broke. The status waits for 40 s of silence; screens see the last sighting at once. */
export async function daemonGone(ctx: Ctx, instanceId: number): Promise<void> {
  const row = await ctx.db
    .selectFrom('instance')
    .select(['id', 'workspace_id', 'kind'])
    .where('id', '=', instanceId)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  if (row) await announceInstance(ctx.db, row);
}

type Heard = Pick<InstanceRow, 'id' | 'kind' | 'status' | 'progress'>;

async function heard(ctx: Ctx, trx: Db, row: Heard): Promise<void> {
  const seenAt = await databaseNow(trx);
  switch (row.status) {
    case 'awaiting setup':
    case 'offline':
    case 'unresponsive':
    case 'online':
      await moveInstance(ctx, trx, row.id, 'online', { seenAt, reason: null });
      return;
    case 'creating':
    case 'powering on':
    case 'rebooting':
    case 'error':
      await noteDaemonStep(trx, row, seenAt);
      await wake(trx, row.id);
      return;
    // A daemon's word moves nothing else: its machine is to stop, to go, or not known to us yet.
    default:
  }
}

/** The cloud's view decides with it, and only the worker asks the cloud. */
async function wake(trx: Db, instanceId: number): Promise<void> {
  await trx.updateTable('instance').set({ next_at: sql<Date>`now()` }).where('id', '=', instanceId).execute();
  await announce(trx, 'due', { kind: 'instance' });
}

async function noteDaemonStep(trx: Db, row: Heard, at: Date): Promise<void> {
  if (row.status !== 'creating' || row.progress.daemon) return;
  await trx
    .updateTable('instance')
    .set({ progress: JSON.stringify({ ...row.progress, daemon: at.toISOString() }) })
    .where('id', '=', row.id)
    .execute();
}

function lock(trx: Db, instanceId: number): Promise<Heard | undefined> {
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
