import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { BATCH_LINES, deleteLines, showGap } from './deleteLines.ts';

/** Of the lines of one self-hosted server, which has no log bucket. */
const LIMIT_BYTES = 10_000_000_000n;
const OVER_SIZE = text('The oldest lines were deleted: a self-hosted server keeps 10 GB of logs');

/** Deletes the oldest lines of self-hosted servers that hold more than 10 GB, and shows the gap. */
export async function limitSelfHostedLogs(db: Db, limit = LIMIT_BYTES): Promise<void> {
  const { rows: over } = await sql<{ id: number; bytes: bigint }>`
    select instance.id, sum(head.kept_bytes)::bigint as bytes
    from log_head head join container on container.id = head.container_id
    join instance on instance.id = container.instance_id and instance.kind = 'self-hosted'
    group by instance.id having sum(head.kept_bytes) > ${limit}`.execute(db);
  for (const { id, bytes } of over) {
    for (let left = bytes - limit; left > 0n; ) {
      const freed = await deleteOldestOf(db, id);
      if (freed === 0n) break;
      left -= freed;
    }
  }
}

/** One batch of the container that has the oldest line. Returns the bytes that it freed. */
async function deleteOldestOf(db: Db, instanceId: number): Promise<bigint> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ id: number; before: bigint; last: bigint; from_ns: bigint; to_ns: bigint }>`
      with first as (
        select container.id, head.kept_bytes as before from container
        join log_head head on head.container_id = container.id
        cross join lateral (select time_ns from log_line where container_id = container.id order by seq limit 1) as line
        where container.instance_id = ${instanceId} order by line.time_ns limit 1)
      select first.id, first.before, max(seq) as last, min(time_ns) as from_ns, max(time_ns) as to_ns
      from first cross join lateral (
        select seq, time_ns from log_line where container_id = first.id order by seq limit ${BATCH_LINES}) as line
      group by first.id, first.before`.execute(trx);
    const found = rows[0];
    if (!found) return 0n;
    const { id, last, from_ns, to_ns } = found;
    await sql`select from log_head where container_id = ${id} for no key update`.execute(trx);
    const before = await keptBytes(trx, id);
    await deleteLines(trx, id, sql`select seq from oldest where seq <= ${last}`);
    await showGap(trx, id, { last, from_ns, to_ns, reason: OVER_SIZE });
    return before - (await keptBytes(trx, id));
  });
}

async function keptBytes(trx: Db, containerId: number): Promise<bigint> {
  const { kept_bytes } = await trx
    .selectFrom('log_head')
    .select('kept_bytes')
    .where('container_id', '=', containerId)
    .executeTakeFirstOrThrow();
  return kept_bytes;
}
