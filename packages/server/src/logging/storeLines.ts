import { sql } from 'kysely';
import { commitAsync } from '../db/durability.ts';
import type { Db } from '../db/schema.ts';
import type { AssemblyState, Lines } from './assembleLines.ts';

/** A log stream of one container, written by one connection of its daemon. */
export interface StreamKey {
  containerId: number;
  /** The Docker id: a recreated container has a new stream. */
  epoch: string;
  /** The epoch of the connection, for fencing. */
  owner: number;
}

/**
 * Claims a stream for a connection, which fences older ones, and returns its state. Waits for a write in progress of an
 * older connection. Null when a newer connection owns it, or the container is not of this server. From now on its lines are
 * copied to the server's log bucket, if it has one.
 */
export async function claimStream(db: Db, instanceId: number, key: StreamKey): Promise<AssemblyState | null> {
  const { containerId, epoch, owner } = key;
  const { rows } = await sql<{
    stored_bytes: bigint;
    last_time_ns: bigint | null;
    records_at_time: number;
    open_stdout: Buffer | null;
    open_stderr: Buffer | null;
    open_stdout_ns: bigint | null;
    open_stderr_ns: bigint | null;
  }>`
    with mine as (select id from container where id = ${containerId}::bigint and instance_id = ${instanceId}),
    head as (insert into log_head (container_id) select id from mine on conflict do nothing),
    copy as (
      insert into log_copy (container_id, storage_id)
      select mine.id, storage.id from mine, storage where storage.instance_id = ${instanceId} on conflict do nothing)
    insert into log_stream (container_id, epoch, owner_epoch) select id, ${epoch}, ${owner} from mine
    on conflict (container_id, epoch) do update set owner_epoch = excluded.owner_epoch, ended_at = null
      where log_stream.owner_epoch <= excluded.owner_epoch
    returning stored_bytes, last_time_ns, records_at_time, open_stdout, open_stderr, open_stdout_ns, open_stderr_ns
  `.execute(db);
  const row = rows[0];
  if (!row) return null;
  return {
    offset: Number(row.stored_bytes),
    lastTimeNs: row.last_time_ns,
    recordsAtTime: row.records_at_time,
    stdout: row.open_stdout && { bytes: row.open_stdout, timeNs: row.open_stdout_ns ?? 0n },
    stderr: row.open_stderr && { bytes: row.open_stderr, timeNs: row.open_stderr_ns ?? 0n },
  };
}

/**
 * Stores lines and the state of the stream after them atomically, in one statement. Returns the number of the last line.
 * Null when the stream is not at `from` or has another owner: then nothing was stored. The commit is asynchronous, and
 * an acknowledgement waits for the disk (`logDurability.ts`). With an event, which is not acknowledged, the commit waits.
 */
export async function storeLines(
  db: Db,
  { containerId, epoch, owner }: StreamKey,
  from: number,
  lines: Lines,
  to: AssemblyState,
  event?: 'log-gap' | 'log-end',
): Promise<number | null> {
  const { rows } = await sql<{ last_seq: bigint }>`
    with moved as (
      update log_stream set
        stored_bytes = ${to.offset}, last_time_ns = ${to.lastTimeNs}::bigint, records_at_time = ${to.recordsAtTime},
        open_stdout = ${to.stdout?.bytes ?? null}, open_stdout_ns = ${to.stdout?.timeNs ?? null}::bigint,
        open_stderr = ${to.stderr?.bytes ?? null}, open_stderr_ns = ${to.stderr?.timeNs ?? null}::bigint,
        ended_at = case when ${event === 'log-end'}::boolean then now() end
      where container_id = ${containerId} and epoch = ${epoch} and owner_epoch = ${owner} and stored_bytes = ${from}
      returning container_id
    ), head as (
      update log_head set last_seq = last_seq + ${lines.count}, kept_bytes = kept_bytes + ${Buffer.byteLength(lines.text)}
      where container_id in (select container_id from moved)
      returning container_id, last_seq
    ), written as (
      insert into log_line (container_id, seq, time_ns, stderr, text)
      select head.container_id, head.last_seq - ${lines.count} + line.nr, line.time_ns, line.stderr, line.text
      from head, rows from (
        string_to_table(${lines.text}, chr(10)),
        unnest(${arrayOf(lines.times)}::bigint[]),
        unnest(${arrayOf(lines.stderr)}::boolean[])
      ) with ordinality as line (text, time_ns, stderr, nr)
      where line.nr <= ${lines.count}
    )
    select last_seq, ${event ? null : commitAsync} from head`.execute(db);
  return rows[0] ? Number(rows[0].last_seq) : null;
}

/** Records that lines are missing after `afterSeq`. A repetition only moves the end of the gap. */
export async function storeGap(
  db: Db,
  containerId: number,
  afterSeq: number,
  gap: { fromNs: bigint | null; toNs: bigint | null; reason: string },
): Promise<void> {
  const again = await db
    .updateTable('log_gap')
    .set({ to_ns: gap.toNs, reason: gap.reason })
    .where('container_id', '=', containerId)
    .where('after_seq', '=', BigInt(afterSeq))
    .returning('id')
    .executeTakeFirst();
  if (again) return;
  await db
    .insertInto('log_gap')
    .values({
      container_id: containerId,
      after_seq: BigInt(afterSeq),
      from_ns: gap.fromNs,
      to_ns: gap.toNs,
      reason: gap.reason,
    })
    .execute();
}

/** An array in PostgreSQL's text format: quoting every element in the driver costs more than the insert. */
function arrayOf(values: readonly (bigint | boolean)[]): string {
  return `{${values.join(',')}}`;
}
