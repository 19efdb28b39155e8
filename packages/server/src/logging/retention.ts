import { text } from '@stagi/contract/text.ts';
import { type RawBuilder, sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { BATCH_LINES, deleteLines, showGap } from './deleteLines.ts';
import { MAX_SEQ } from './findLines.ts';

export const RETENTION_DAYS = 30;
/** Lines that a log bucket is still to get are kept longer. */
const UNCOPIED_DAYS = 35;

/** Deletes lines older than 30 days, in batches so that no lock is held for long. */
export async function deleteOldLines(db: Db): Promise<void> {
  const { rows: heads } = await sql<{ container_id: number; copied_seq: bigint | null }>`
    select head.container_id, copied_seq from log_head head left join log_copy copy
    on copy.container_id = head.container_id and copy.finished_at is null
    where last_seq > 0`.execute(db);
  for (const { container_id, copied_seq } of heads) {
    const upTo = copied_seq === null ? sql`${MAX_SEQ}::bigint` : copiedSeq(container_id);
    while ((await deleteBatch(db, container_id, RETENTION_DAYS, upTo)) === BATCH_LINES);
    if (copied_seq !== null) await giveUpCopying(db, container_id);
  }
}

/** Lines up to here are in the log bucket. Those of an intent are still to be read. */
const copiedSeq = (containerId: number) => sql<bigint>`(
  select least(copied_seq, (select min(first_seq) - 1 from log_chunk
    where log_chunk.container_id = ${containerId} and state = 'intent'))
  from log_copy where log_copy.container_id = ${containerId})`;

/** By line number, up to the first line that is young enough: a container's clock may jump, its order does not. */
async function deleteBatch(db: Db, containerId: number, days: number, upTo: RawBuilder<unknown>): Promise<number> {
  return deleteLines(
    db,
    containerId,
    sql`select seq from oldest where seq <= ${upTo} and seq < coalesce((select min(seq) from oldest
      where time_ns >= ${sql.raw(oldestNs(days))}), ${MAX_SEQ})`,
  );
}

const oldestNs = (days: number): string => `(extract(epoch from now() - interval '${days} days')::bigint * 1000000000)`;

const NEVER_COPIED = text('These lines were deleted after 35 days, before they could be copied to the log bucket');

/** A bucket that takes nothing for so long is not waited for any longer: the lines go, and their gap is shown. */
async function giveUpCopying(db: Db, containerId: number): Promise<void> {
  for (let isMore = true; isMore; ) {
    isMore = await inTransaction(db, async (trx) => {
      const copy = await trx
        .selectFrom('log_copy')
        .select('copied_seq')
        .where('container_id', '=', containerId)
        .forNoKeyUpdate()
        .executeTakeFirst();
      if (!copy) return false;
      const { rows } = await sql<{ last: bigint | null; from_ns: bigint; to_ns: bigint; lines: bigint }>`
        with oldest as (select seq, time_ns from log_line where container_id = ${containerId} order by seq limit ${BATCH_LINES}),
        gone as (select * from oldest where seq < coalesce((select min(seq) from oldest
          where time_ns >= ${sql.raw(oldestNs(UNCOPIED_DAYS))}), ${MAX_SEQ}))
        select max(seq) as last, min(time_ns) as from_ns, max(time_ns) as to_ns, count(*) as lines from gone`.execute(
        trx,
      );
      const { last, from_ns, to_ns, lines } = rows[0]!;
      if (last === null) return false;
      await sql`delete from log_chunk where container_id = ${containerId} and state = 'intent' and first_seq <= ${last}`.execute(
        trx,
      );
      await deleteLines(trx, containerId, sql`select seq from oldest where seq <= ${last}`);
      await showGap(trx, containerId, { last, from_ns, to_ns, reason: NEVER_COPIED });
      await sql`update log_copy set copied_seq = ${last} where container_id = ${containerId}`.execute(trx);
      return lines === BigInt(BATCH_LINES);
    });
  }
}
