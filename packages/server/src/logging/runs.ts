import type { LogRun } from '@stagi/contract/logging.ts';
import type { Selectable } from 'kysely';
import type { ContainerRunTable } from '../db/computeTables.ts';
import type { Db } from '../db/schema.ts';
import { MAX_SEQ } from './findLines.ts';
import { formatNs } from './nanoTime.ts';

const MOST = 200;

/** The runs that lines between two times are of, and the one before them; the newest of too many. */
export async function runsBetween(db: Db, containerId: number, fromNs: bigint, toNs: bigint): Promise<LogRun[]> {
  const rows = await db
    .selectFrom('container_run')
    .selectAll()
    .where('container_id', '=', containerId)
    .where('from_ns', '<=', toNs)
    .where('number', '>=', ({ selectFrom, fn, val }) =>
      selectFrom('container_run')
        .select(({ eb }) => eb(fn.coalesce(fn.max('number'), val(1)), '-', 1).as('before'))
        .where('container_id', '=', containerId)
        .where('from_ns', '<=', fromNs),
    )
    .orderBy('number', 'desc')
    .limit(MOST)
    .execute();
  return rows.toReversed().map(presentRun);
}

/** The current run, or the last one, and the one before it. */
export function lastRuns(db: Db, containerId: number): Promise<LogRun[]> {
  return runsBetween(db, containerId, MAX_SEQ, MAX_SEQ);
}

function presentRun(row: Selectable<ContainerRunTable>): LogRun {
  return {
    number: row.number,
    startedAt: row.started_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
    exitCode: row.exit_code,
    linesFrom: formatNs(row.from_ns),
  };
}
