import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { sql } from 'kysely';
import type { ContainerRow, Db } from '../db/schema.ts';

/** Later times are invalid and would overflow as nanoseconds. */
const MAX_TIME_MS = Date.UTC(2100, 0, 1);

/**
 * Keeps the runs of a container, by what its daemon shows: a new start time is a new run. Returns whether one began or
 * ended. The container's row must be locked. A run that began and ended between two inventories is not seen.
 */
export async function recordRun(
  trx: Db,
  row: Pick<ContainerRow, 'id' | 'started_at' | 'finished_at'>,
  actual: ActualContainer,
): Promise<boolean> {
  const started = timeOf(actual.startedAt);
  if (started === null) return false;
  const finished = timeOf(actual.finishedAt);
  // Docker may note the end of a short run a moment before its start.
  const ended_at = actual.exitCode !== null && finished !== null ? new Date(Math.max(finished, started)) : null;
  const end = ended_at && { ended_at, exit_code: actual.exitCode };
  if (started !== row.started_at?.getTime()) {
    await insertRun(trx, row.id, started, finished, end);
    return true;
  }
  if (!end || finished === row.finished_at?.getTime()) return false;
  const { numUpdatedRows } = await trx
    .updateTable('container_run')
    .set(end)
    .where('container_id', '=', row.id)
    .where('started_at', '=', new Date(started))
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function insertRun(
  trx: Db,
  id: number,
  started: number,
  finished: number | null,
  end: { ended_at: Date; exit_code: number | null } | null,
): Promise<void> {
  const before = await trx
    .selectFrom('container_run')
    .select(['number', 'ended_at'])
    .where('container_id', '=', id)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  // While the next run goes on, Docker shows the end of the last one.
  const endBefore = before?.ended_at?.getTime() ?? (finished !== null && finished <= started ? finished : null);
  if (before && !before.ended_at && endBefore !== null) {
    await trx
      .updateTable('container_run')
      .set({ ended_at: new Date(endBefore) })
      .where('container_id', '=', id)
      .where('number', '=', before.number)
      .execute();
  }
  await trx
    .insertInto('container_run')
    .values({
      container_id: id,
      number: (before?.number ?? 0) + 1,
      started_at: new Date(started),
      from_ns: boundaryNs(endBefore, started),
      ...end,
    })
    .execute();
}

/**
 * Between the end of one run and the start of the next: Docker stamps the last lines a little after the end, and the first
 * ones may come a little before the time that it shows as the start.
 */
function boundaryNs(endBefore: number | null, started: number): bigint {
  const between = endBefore === null ? 0 : Math.floor((started - endBefore) / 2);
  return (BigInt(started) - BigInt(between)) * 1_000_000n;
}

function timeOf(moment: string | null): number | null {
  const time = moment === null ? Number.NaN : Date.parse(moment);
  return time >= 0 && time < MAX_TIME_MS ? time : null;
}

/** Deletes runs whose lines are no longer kept; the last run of each container stays. */
export async function deleteOldRuns(db: Db, keptDays: number): Promise<void> {
  await sql`delete from container_run as run where run.ended_at < now() - ${`${keptDays} days`}::interval
    and exists (select from container_run as later
      where later.container_id = run.container_id and later.number > run.number)`.execute(db);
}
