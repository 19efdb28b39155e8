import { instanceCan, type RentedStatus } from '@stagi/contract/instances.ts';
import { sql } from 'kysely';
import { followSegments } from '../billing/segments.ts';
import { balanceOf } from '../billing/spending.ts';
import { KEPT_DAYS, RUNS_YET, ZERO_BALANCE } from '../billing/zero.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import { takeTurns } from '../turns.ts';
import { want } from './actions.ts';

/** Servers that are worked on at once: the pool is for others too. */
const AT_ONCE = 4;

type Ctx = Pick<Context, 'db' | 'log' | 'providers'>;

/**
 * Stops what runs in workspaces without a balance, starts again what a credit pays for, and ends what was kept for 14 days.
 * Looks at rows alone, so that whoever dies at it is followed by anybody. Answers how many it changed.
 */
export async function followZeroBalances(ctx: Ctx): Promise<number> {
  let changed = 0;
  for (const [ids, change] of [
    [await toHold(ctx.db), hold],
    [await toRelease(ctx.db), release],
    [await toEnd(ctx.db), end],
  ] as const) {
    const turns = takeTurns(AT_ONCE);
    await Promise.all(
      ids.map((id) =>
        turns(async () => {
          try {
            await inTransaction(ctx.db, (trx) => change(ctx, trx, id));
            changed += 1;
          } catch (error) {
            ctx.log.error({ err: error, instanceId: id }, 'a server could not follow its balance; it is tried again');
          }
        }),
      ),
    );
  }
  return changed;
}

/** In an order of this process's own: several that went by the numbers would wait for each other at every server. */
const idsOf = async (query: { execute(db: Db): Promise<{ rows: { id: number }[] }> }, db: Db): Promise<number[]> =>
  (await query.execute(db)).rows
    .map(({ id }) => ({ id, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ id }) => id);

const RENTED = sql`i.kind = 'rented' and i.closed_at is null`;
const REACHED = sql`w.exhausted_at is not null and ${sql.raw(RUNS_YET)}`;
/** What was on its way up then; also when somebody has chosen others since: it stays stopped, as soon as it can be. */
const ARRIVED = sql`${RENTED} and i.zero_stopped_at is not null and i.status in ('online', 'unresponsive')
  and (w.exhausted_at is not null or not m.resumes_all)`;
const HELD = sql`((${REACHED}) or (${ARRIVED}))`;

const toHold = (db: Db): Promise<number[]> =>
  idsOf(
    sql`select i.id from workspace w join instance i on i.workspace_id = w.id where ${REACHED}
      union all
      select i.id from instance i join workspace w on w.id = i.workspace_id
        left join workspace_meter m on m.client_id = w.id where ${ARRIVED}`,
    db,
  );

/** The bill stops with the accepted stop, also where the machine must first have finished something else. */
async function hold(ctx: Ctx, trx: Db, id: number): Promise<void> {
  const row = await lock(trx, id, HELD);
  if (!row) return;
  if (row.zero_stopped_at === null)
    await sql`update instance set zero_stopped_at = clock_timestamp() where id = ${id}`.execute(trx);
  const canStop = row.offer?.canStop ?? false;
  const how = { reason: ZERO_BALANCE, isHeld: true };
  if (!canStop) await want(ctx, trx, 'terminate', row, how);
  else if (instanceCan.stop({ status: row.status as RentedStatus, canStop }).allowed)
    await want(ctx, trx, 'stop', row, how);
  else await followSegments(trx, id);
}

const RELEASED = sql`${RENTED} and w.exhausted_at is null and w.disabled_at is null
  and i.zero_stopped_at is not null and case when m.resumes_all then i.status <> 'powering off'
    else i.status not in ('in queue', 'creating', 'powering on', 'rebooting', 'online', 'unresponsive') end`;

const toRelease = (db: Db): Promise<number[]> =>
  idsOf(
    sql`select i.id from instance i join workspace w on w.id = i.workspace_id
      join workspace_meter m on m.client_id = w.id where ${RELEASED}`,
    db,
  );

async function release(ctx: Ctx, trx: Db, id: number): Promise<void> {
  const row = await lock(trx, id, RELEASED);
  if (!row) return;
  const { rows } = await sql<{ resumes_all: boolean }>`
    select resumes_all from workspace_meter where client_id = ${row.workspace_id}`.execute(trx);
  if (rows[0]?.resumes_all && row.status === 'stopped') return want(ctx, trx, 'start', row, {});
  await sql`update instance set zero_stopped_at = null where id = ${id}`.execute(trx);
  await followSegments(trx, id);
}

/** What a credit still pays for is kept, whether or not it was enough to start anything; what was left then is none. */
const OVERDUE = sql`${RENTED} and i.desired <> 'gone'
  and w.exhausted_at < metering_clock() - make_interval(days => ${KEPT_DAYS})
  and ${sql.raw(balanceOf('w.id'))} <= coalesce(m.left_at_zero, 0)`;

const toEnd = (db: Db): Promise<number[]> =>
  idsOf(
    sql`select i.id from workspace w join instance i on i.workspace_id = w.id
      left join workspace_meter m on m.client_id = w.id where ${OVERDUE}`,
    db,
  );

async function end(ctx: Ctx, trx: Db, id: number): Promise<void> {
  const row = await lock(trx, id, OVERDUE);
  if (row) await want(ctx, trx, 'terminate', row, { reason: ZERO_BALANCE });
}

/**
 * The row, if what it was chosen for still holds: asked once it is locked, as whoever it was waited for may have ended the
 * zero balance, which a statement that waited itself would not see.
 */
async function lock(trx: Db, id: number, condition: typeof HELD): Promise<InstanceRow | undefined> {
  await sql`select 1 from instance where id = ${id} for no key update`.execute(trx);
  const { rows } = await sql<InstanceRow>`select i.* from instance i join workspace w on w.id = i.workspace_id
    left join workspace_meter m on m.client_id = w.id
    where i.id = ${id} and ${condition}`.execute(trx);
  return rows[0];
}
