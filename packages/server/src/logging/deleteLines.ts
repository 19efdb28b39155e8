import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/schema.ts';

export const BATCH_LINES = 5_000;

/** Deletes those of the oldest lines that the query `of oldest` selects. */
export async function deleteLines(db: Db, containerId: number, chosen: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ lines: number }>`
    with oldest as (
      select seq, time_ns from log_line where container_id = ${containerId} order by seq limit ${BATCH_LINES}
    ), gone as (
      delete from log_line where container_id = ${containerId} and seq in (${chosen})
      returning octet_length(text) + 1 as bytes
    ), head as (
      update log_head set kept_bytes = kept_bytes - (select sum(bytes) from gone)
      where container_id = ${containerId} and exists (select from gone)
    )
    select count(*)::integer as lines from gone`.execute(db);
  return rows[0]?.lines ?? 0;
}

/** Shows that lines up to `last` were deleted: one gap stands for everything before the first line. */
export async function showGap(
  trx: Db,
  containerId: number,
  { last, from_ns, to_ns, reason }: { last: bigint; from_ns: bigint; to_ns: bigint; reason: string },
): Promise<void> {
  await sql`
    with earlier as (delete from log_gap where container_id = ${containerId} and after_seq <= ${last} returning from_ns)
    insert into log_gap (container_id, after_seq, from_ns, to_ns, reason)
    select ${containerId}, ${last}, least(${from_ns}::bigint, min(from_ns)), ${to_ns}, ${reason} from earlier`.execute(
    trx,
  );
}
