import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

export const RETENTION_DAYS = 30;
const BATCH_LINES = 5_000;

/** Deletes lines older than 30 days, in batches so that no lock is held for long. */
export async function deleteOldLines(db: Db): Promise<void> {
  const heads = await db.selectFrom('log_head').select('container_id').where('last_seq', '>', 0n).execute();
  for (const { container_id } of heads) {
    while ((await deleteBatch(db, container_id)) === BATCH_LINES);
  }
}

/** By line number, up to the first line that is young enough: a container's clock may jump, its order does not. */
async function deleteBatch(db: Db, containerId: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with oldest as (
      select seq, time_ns from log_line where container_id = ${containerId} order by seq limit ${BATCH_LINES}
    )
    delete from log_line where container_id = ${containerId} and seq in (
      select seq from oldest
      where seq < coalesce((select min(seq) from oldest where time_ns >= ${sql.raw(OLDEST_NS)}), 9223372036854775807)
    )`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

const OLDEST_NS = `(extract(epoch from now() - interval '${RETENTION_DAYS} days')::bigint * 1000000000)`;
