import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { type ChunkContent, type ChunkGap, type ChunkLine, hourOf } from './chunk.ts';

export interface ChunkLimits {
  lines: number;
  /** Of the lines' text. A chunk holds at least one line. */
  bytes: number;
}

/** A page of lines is read with at most this many rows, whatever their size. */
const PAGE_LINES = 5_000;

/**
 * Reads the lines from `first` to `last`, as many as a chunk may hold: the size is limited, and an hour that begins ends a
 * chunk. (A clock that is set back does not.) `isCut`: the chunk was ended by such a limit, not by `last`.
 */
export async function readLines(
  db: Db,
  containerId: number,
  first: bigint,
  last: bigint,
  limits: ChunkLimits,
): Promise<{ lines: ChunkLine[]; isCut: boolean }> {
  const lines: ChunkLine[] = [];
  let bytes = 0;
  for (let next = first; next <= last; ) {
    const room = Math.min(PAGE_LINES, limits.lines - lines.length);
    if (room === 0 || bytes >= limits.bytes) return { lines, isCut: true };
    const page = await readPage(db, containerId, next, last, { lines: room, bytes: limits.bytes - bytes });
    if (page.length === 0) break;
    for (const line of page) {
      if (lines[0] && hourOf(line) > hourOf(lines[0])) return { lines, isCut: true };
      lines.push(line);
      bytes += Buffer.byteLength(line.text);
    }
    next = page.at(-1)!.seq + 1n;
  }
  return { lines, isCut: false };
}

async function readPage(db: Db, containerId: number, first: bigint, last: bigint, limits: ChunkLimits) {
  const { rows } = await sql<ChunkLine>`
    select seq, time_ns, stderr, text from (
      select *, sum(octet_length(text)) over (order by seq) - octet_length(text) as bytes_before from (
        select seq, time_ns, stderr, text from log_line
        where container_id = ${containerId} and seq between ${first} and ${last} order by seq limit ${limits.lines}
      ) as page
    ) as sized
    where bytes_before < ${limits.bytes} order by seq`.execute(db);
  return rows;
}

/** The gaps of a chunk: those before each of its lines, and for the end of a log also those after the last line. */
export async function readGaps(
  db: Db,
  containerId: number,
  { first, last, isEnd }: { first: bigint; last: bigint; isEnd: boolean },
): Promise<ChunkGap[]> {
  return db
    .selectFrom('log_gap')
    .select(['after_seq', 'from_ns', 'to_ns', 'reason'])
    .where('container_id', '=', containerId)
    .where('after_seq', '>=', first - 1n)
    .where('after_seq', isEnd ? '<=' : '<', last)
    .orderBy('after_seq')
    .orderBy('id')
    .execute();
}

/** What a stored intent stands for, read again: lines never change. */
export async function readStored(
  db: Db,
  chunk: { container_id: number; first_seq: bigint; last_seq: bigint; is_end: boolean },
): Promise<ChunkContent> {
  const { container_id: id, first_seq: first, last_seq: last, is_end: isEnd } = chunk;
  const lines = await db
    .selectFrom('log_line')
    .select(['seq', 'time_ns', 'stderr', 'text'])
    .where('container_id', '=', id)
    .where('seq', '>=', first)
    .where('seq', '<=', last)
    .orderBy('seq')
    .execute();
  return { lines, gaps: await readGaps(db, id, { first, last, isEnd }) };
}
