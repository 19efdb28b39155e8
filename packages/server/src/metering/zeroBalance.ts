import { instanceCan, type RentedStatus } from '@stagi/contract/instances.ts';
import { sql } from 'kysely';
import { syncSegments } from '../billing/segments.ts';
import { INSTANCE_STILL_RUNNING, ZERO_BALANCE } from '../billing/zero.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db, InstanceRow } from '../db/schema.ts';
import { setDesired } from '../instances/actions.ts';
import { limitConcurrency } from '../loops/concurrency.ts';
import { deleteUnpaidStorages, RETENTION_IS_OVER } from './zeroStorages.ts';

/** Limits the connections that this loop takes from the pool. */
const MAX_CONCURRENT_SERVERS = 4;

type Ctx = Pick<Context, 'db' | 'log' | 'providers'>;

/**
 * Stops servers of workspaces without a balance, starts them again after a credit, and terminates those kept for 14 days,
 * as it deletes storages.
 * Keeps no state but the rows, so that any other process can take over. Returns the number of changed servers and storages.
 */
export async function enforceZeroBalances(ctx: Ctx): Promise<number> {
  let changed = 0;
  for (const [ids, change] of [
    [await idsToStop(ctx.db), stopAtZero],
    [await idsToResume(ctx.db), resumeAfterCredit],
    [await idsToTerminate(ctx.db), terminateAfterRetention],
  ] as const) {
    const turns = limitConcurrency(MAX_CONCURRENT_SERVERS);
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
  return changed + (await deleteUnpaidStorages(ctx));
}

/** In random order, so that several processes do not wait for each other at every server. */
const shuffledIds = async (
  query: { execute(db: Db): Promise<{ rows: { id: number }[] }> },
  db: Db,
): Promise<number[]> =>
  (await query.execute(db)).rows
    .map(({ id }) => ({ id, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ id }) => id);

const RENTED = sql`i.kind = 'rented' and i.closed_at is null`;
const RUNS_WITHOUT_BALANCE = sql`w.exhausted_at is not null and ${sql.raw(INSTANCE_STILL_RUNNING)}`;
/** Was starting when the balance ran out, and was not chosen to be resumed since. */
const STARTED_AFTER_ZERO = sql`${RENTED} and i.zero_stopped_at is not null and i.status in ('online', 'unresponsive')
  and (w.exhausted_at is not null or not m.resumes_all)`;
/** How long a stop waits for the tasks of a server. */
const TASKS_MAY_TAKE = sql`interval '60 seconds'`;
const MUST_STOP = sql`((${RUNS_WITHOUT_BALANCE}) or (${STARTED_AFTER_ZERO}))`;

const idsToStop = (db: Db): Promise<number[]> =>
  shuffledIds(
    sql`select i.id from workspace w join instance i on i.workspace_id = w.id where ${RUNS_WITHOUT_BALANCE}
      union all
      select i.id from instance i join workspace w on w.id = i.workspace_id
        left join workspace_meter m on m.client_id = w.id where ${STARTED_AFTER_ZERO}`,
    db,
  );

/** Charging ends here, even if the machine can be stopped only after a transition. */
async function stopAtZero(ctx: Ctx, trx: Db, id: number): Promise<void> {
  const row = await lockIf(trx, id, MUST_STOP);
  if (!row) return;
  if (row.zero_stopped_at === null)
    await sql`update instance set zero_stopped_at = clock_timestamp() where id = ${id}`.execute(trx);
  if (await waitsForTasks(trx, id)) return syncSegments(trx, id);
  const canStop = row.offer?.canStop ?? false;
  const options = { reason: ZERO_BALANCE, isHeld: true };
  if (!canStop) await setDesired(ctx, trx, 'terminate', row, options);
  else if (instanceCan.stop({ status: row.status as RentedStatus, canStop }).allowed)
    await setDesired(ctx, trx, 'stop', row, options);
  else await syncSegments(trx, id);
}

/** Its tasks are being canceled: a container of one goes when its log has arrived. */
async function waitsForTasks(trx: Db, id: number): Promise<boolean> {
  const { rows } = await sql`select from instance i where i.id = ${id}
    and i.zero_stopped_at > clock_timestamp() - ${TASKS_MAY_TAKE}
    and exists (select from container c where c.instance_id = i.id and c.task_run_id is not null
      and c.deleted_at is null and c.status <> 'creation failed')`.execute(trx);
  return rows.length > 0;
}

const MAY_RESUME = sql`${RENTED} and w.exhausted_at is null and w.disabled_at is null
  and i.zero_stopped_at is not null and case when m.resumes_all then i.status <> 'powering off'
    else i.status not in ('in queue', 'creating', 'powering on', 'rebooting', 'online', 'unresponsive') end`;

const idsToResume = (db: Db): Promise<number[]> =>
  shuffledIds(
    sql`select i.id from instance i join workspace w on w.id = i.workspace_id
      join workspace_meter m on m.client_id = w.id where ${MAY_RESUME}`,
    db,
  );

async function resumeAfterCredit(ctx: Ctx, trx: Db, id: number): Promise<void> {
  const row = await lockIf(trx, id, MAY_RESUME);
  if (!row) return;
  const { rows } = await sql<{ resumes_all: boolean }>`
    select resumes_all from workspace_meter where client_id = ${row.workspace_id}`.execute(trx);
  if (rows[0]?.resumes_all && row.status === 'stopped') return setDesired(ctx, trx, 'start', row, {});
  await sql`update instance set zero_stopped_at = null where id = ${id}`.execute(trx);
  await syncSegments(trx, id);
}

const MUST_TERMINATE = sql`${RENTED} and i.desired <> 'gone' and ${RETENTION_IS_OVER}`;

const idsToTerminate = (db: Db): Promise<number[]> =>
  shuffledIds(
    sql`select i.id from workspace w join instance i on i.workspace_id = w.id
      left join workspace_meter m on m.client_id = w.id where ${MUST_TERMINATE}`,
    db,
  );

async function terminateAfterRetention(ctx: Ctx, trx: Db, id: number): Promise<void> {
  const row = await lockIf(trx, id, MUST_TERMINATE);
  if (row) await setDesired(ctx, trx, 'terminate', row, { reason: ZERO_BALANCE });
}

/**
 * Locks the row, then checks the condition in a second statement: a single one that waited for the lock would not see changes
 * in other tables that were committed meanwhile.
 */
async function lockIf(trx: Db, id: number, condition: typeof MUST_STOP): Promise<InstanceRow | undefined> {
  await sql`select 1 from instance where id = ${id} for no key update`.execute(trx);
  const { rows } = await sql<InstanceRow>`select i.* from instance i join workspace w on w.id = i.workspace_id
    left join workspace_meter m on m.client_id = w.id
    where i.id = ${id} and ${condition}`.execute(trx);
  return rows[0];
}
