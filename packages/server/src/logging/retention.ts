import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

export const KEPT_DAYS = 30;
const AT_ONCE = 5_000;

/** Deletes lines older than 30 days, a few thousand in one statement so that nobody waits for it. */
export async function forgetOldLines(db: Db): Promise<void> {
  const heads = await db.selectFrom('log_head').select('container_id').where('last_seq', '>', 0n).execute();
  for (const { container_id } of heads) {
    while ((await forgetSome(db, container_id)) === AT_ONCE);
  }
}

/** Oldest first and only up to the first that is young enough: a container's clock may jump, its order does not. */
async function forgetSome(db: Db, containerId: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with oldest as (
      select seq, time_ns from log_line where container_id = ${containerId} order by seq limit ${AT_ONCE}
    )
    delete from log_line where container_id = ${containerId} and seq in (
      select seq from oldest
      where seq < coalesce((select min(seq) from oldest where time_ns >= ${sql.raw(OLDEST_NS)}), 9223372036854775807)
    )`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

const OLDEST_NS = `(extract(epoch from now() - interval '${KEPT_DAYS} days')::bigint * 1000000000)`;
