import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { LogGap, LogLine, LogRun, logging } from '@stagi/contract/logging.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { containsPattern } from '../http/paging.ts';
import { type FoundLines, findLines, MAX_SEQ, readLines } from './findLines.ts';
import { presentGap, presentLine } from './present.ts';
import { runLimited, SEARCH_TIMEOUT_MS, searchLines, tooSlow } from './regexSearch.ts';
import { lastRuns, runsBetween } from './runs.ts';

type LineQuery = Omit<ParsedInputOf<typeof logging.query>, 'source'>;

interface Answer {
  lines: LogLine[];
  gaps: LogGap[];
  runs: LogRun[];
  hasBefore: boolean;
  isMore?: true;
  lastSeq: number;
}

/** Stored lines of one container, oldest first: the newest matching ones, or those before or after a line. */
export async function queryLines(db: Db, containerId: number, question: LineQuery): Promise<Answer> {
  const { cursor, limit } = question;
  const forward = cursor !== undefined && 'after' in cursor;
  const lastSeq = await lastSeqOf(db, containerId);
  if (question.mode === 'regex' && question.text) return queryByRegex(db, containerId, question, lastSeq);
  const { rows, isCut } = await selectLines(db, containerId, question, forward ? limit : limit + 1);
  const more = isCut || rows.length > limit;
  const page = forward ? rows : rows.slice(0, limit).reverse();
  const first = page[0]?.seq;
  return {
    lines: page.map(presentLine),
    gaps: await gapsOfPage(db, containerId, page, lastSeq),
    runs: await runsOfPage(db, containerId, page, lastSeq),
    hasBefore: forward && first !== undefined ? await hasLinesBefore(db, containerId, question, first) : more,
    ...(isCut && { isMore: true }),
    lastSeq,
  };
}

async function queryByRegex(db: Db, containerId: number, question: LineQuery, lastSeq: number): Promise<Answer> {
  const { cursor, limit, from, to, text } = question;
  const forward = cursor !== undefined && 'after' in cursor;
  const {
    rows,
    isComplete: whole,
    isCut,
  } = await searchLines(db, containerId, {
    pattern: text,
    fromNs: from ? nsOf(from) : null,
    toNs: to ? nsOf(to) : null,
    first: forward ? BigInt(cursor.after) + 1n : await firstSeqOf(db, containerId),
    last: cursor && 'before' in cursor ? BigInt(cursor.before) - 1n : BigInt(lastSeq),
    forward,
    limit,
  });
  const page = forward ? rows : rows.toReversed();
  return {
    lines: page.map(presentLine),
    gaps: await gapsOfPage(db, containerId, page, lastSeq),
    runs: await runsOfPage(db, containerId, page, lastSeq),
    hasBefore: forward ? cursor.after > 0 : !whole,
    ...(isCut && { isMore: true }),
    lastSeq,
  };
}

async function firstSeqOf(db: Db, containerId: number): Promise<bigint> {
  const first = await db
    .selectFrom('log_line')
    .select('seq')
    .where('container_id', '=', containerId)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return first?.seq ?? 1n;
}

/** Lines after `afterSeq` in their order, for a tail. */
export async function linesAfter(db: Db, containerId: number, afterSeq: number, limit: number): Promise<LogLine[]> {
  const { rows } = await readLines(
    db,
    sql`select seq, time_ns, stderr, text from log_line where container_id = ${containerId} and seq > ${afterSeq}
      order by seq limit ${limit}`,
    true,
  );
  return rows.map(presentLine);
}

/** Gaps at `afterSeq` or later. */
export async function gapsFrom(db: Db, containerId: number, afterSeq: number): Promise<LogGap[]> {
  const rows = await db
    .selectFrom('log_gap')
    .selectAll()
    .where('container_id', '=', containerId)
    .where('after_seq', '>=', BigInt(afterSeq))
    .orderBy('after_seq')
    .execute();
  return rows.map(presentGap);
}

export async function lastSeqOf(db: Db, containerId: number): Promise<number> {
  const head = await db
    .selectFrom('log_head')
    .select('last_seq')
    .where('container_id', '=', containerId)
    .executeTakeFirst();
  return Number(head?.last_seq ?? 0n);
}

async function selectLines(db: Db, containerId: number, question: LineQuery, limit: number): Promise<FoundLines> {
  const { cursor, from, to, text } = question;
  const forward = cursor !== undefined && 'after' in cursor;
  const first = forward ? BigInt(cursor.after) + 1n : 0n;
  const last = cursor && 'before' in cursor ? BigInt(cursor.before) - 1n : MAX_SEQ;
  const [fromNs, toNs] = [from ? nsOf(from) : null, to ? nsOf(to) : null];
  if (text) {
    const search = { like: containsPattern(text), matches: null, first, last, fromNs, toNs, forward, limit };
    const found = await runLimited(db, SEARCH_TIMEOUT_MS, (trx) => findLines(trx, containerId, search));
    if (!found) throw tooSlow();
    return found;
  }
  const ofTime = [
    ...(fromNs === null ? [] : [sql`and time_ns >= ${fromNs}`]),
    ...(toNs === null ? [] : [sql`and time_ns <= ${toNs}`]),
  ];
  const lines = sql`select seq, time_ns, stderr, text from log_line
    where container_id = ${containerId} and seq >= ${first} and seq <= ${last} ${sql.join(ofTime, sql` `)}
    order by seq ${sql.raw(forward ? 'asc' : 'desc')} limit ${limit}`;
  return readLines(db, lines, forward);
}

async function hasLinesBefore(db: Db, containerId: number, question: LineQuery, seq: bigint): Promise<boolean> {
  const before = { ...question, cursor: { before: Number(seq) } };
  return (await selectLines(db, containerId, before, 1)).rows.length > 0;
}

/** The gaps of a page: each is shown before the line that follows it, and the last one at the end of the log. */
async function gapsOfPage(
  db: Db,
  containerId: number,
  page: readonly { seq: bigint }[],
  lastSeq: number,
): Promise<LogGap[]> {
  const first = page[0];
  const last = page.at(-1);
  if (!first || !last) return lastSeq === 0 ? gapsFrom(db, containerId, 0) : [];
  const isEnd = Number(last.seq) >= lastSeq;
  const gaps = await gapsFrom(db, containerId, Number(first.seq) - 1);
  return gaps.filter((gap) => gap.afterSeq < Number(last.seq) || isEnd);
}

/** At the end of the log also the runs that have printed nothing yet. */
function runsOfPage(
  db: Db,
  containerId: number,
  page: readonly { seq: bigint; time_ns: bigint }[],
  lastSeq: number,
): Promise<LogRun[]> | LogRun[] {
  const first = page[0];
  const last = page.at(-1);
  if (!first || !last) return lastSeq === 0 ? lastRuns(db, containerId) : [];
  return runsBetween(db, containerId, first.time_ns, Number(last.seq) >= lastSeq ? MAX_SEQ : last.time_ns);
}

function nsOf(time: string): bigint {
  return BigInt(Date.parse(time)) * 1_000_000n;
}
