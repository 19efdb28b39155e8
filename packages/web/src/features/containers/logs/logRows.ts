import type { LogGap, LogLine } from '@stagi/contract/logging.ts';

/** A row of the view. `at` orders rows: a line by its number, the others between two lines. */
export type LogRow =
  | { kind: 'line'; key: number; at: number; line: LogLine }
  | { kind: 'gap'; key: string; at: number; gap: LogGap }
  /** Lines that are stored but not loaded. */
  | { kind: 'unloaded'; key: string; at: number; fromSeq: number; toSeq: number };

export interface LogRows {
  /** Rows in order. The array is replaced unless rows are only appended. */
  readonly rows: readonly LogRow[];
  /** The number of the first and the last loaded line; 0 without any. */
  firstSeq(): number;
  lastSeq(): number;
  /** Appends lines, without those loaded already. Returns how many were new. */
  append(lines: readonly LogLine[], gaps: readonly LogGap[]): number;
  /** Prepends lines. */
  prepend(lines: readonly LogLine[], gaps: readonly LogGap[]): void;
  /** Marks lines that the live stream skipped as unloaded. */
  skip(fromSeq: number, toSeq: number): void;
  /** Loads lines at the end of an unloaded range, which shrinks to what is before them. Without `more` it is removed. */
  load(
    range: Extract<LogRow, { kind: 'unloaded' }>,
    lines: readonly LogLine[],
    gaps: readonly LogGap[],
    more: boolean,
  ): void;
  /** Drops the oldest rows beyond `keep`. Returns whether there were any. */
  trim(keep: number): boolean;
}

/** The lines of a log in order, each once, with its gaps and unloaded ranges. No I/O. */
export function createLogRows(): LogRows {
  let rows: LogRow[] = [];
  const known = new Set<string>();

  return {
    get rows() {
      return rows;
    },
    firstSeq: () => seqOf(rows.find(isLine)),
    lastSeq,
    append(lines, gaps) {
      const last = lastSeq();
      const fresh = lines.filter((line) => line.seq > last);
      for (const line of fresh) rows.push(rowOfLine(line));
      for (const gap of gaps) addGap(gap);
      return fresh.length;
    },
    prepend(lines, gaps) {
      const first = seqOf(rows.find(isLine));
      const fresh = first === 0 ? lines : lines.filter((line) => line.seq < first);
      rows = [...fresh.map(rowOfLine), ...rows];
      for (const gap of gaps) addGap(gap);
    },
    skip(fromSeq, toSeq) {
      insert({ kind: 'unloaded', key: `range ${fromSeq}`, at: fromSeq - 0.2, fromSeq, toSeq });
    },
    load(range, lines, gaps, more) {
      const index = rows.findIndex((row) => row.key === range.key);
      if (index < 0) return;
      const inside = lines.filter((line) => line.seq >= range.fromSeq && line.seq <= range.toSeq);
      const first = inside[0]?.seq ?? 0;
      const rest = more && first > range.fromSeq ? [{ ...range, toSeq: first - 1 }] : [];
      rows = rows.toSpliced(index, 1, ...rest, ...inside.map(rowOfLine));
      for (const gap of gaps) addGap(gap);
    },
    trim(keep) {
      if (rows.length <= keep) return false;
      for (const row of rows.slice(0, -keep)) if (row.kind === 'gap') known.delete(row.key);
      rows = rows.slice(-keep);
      return true;
    },
  };

  function lastSeq(): number {
    return seqOf(rows.findLast(isLine));
  }

  function addGap(gap: LogGap): void {
    const key = `gap ${gap.afterSeq} ${gap.from ?? ''} ${gap.to ?? ''}`;
    if (known.has(key)) return;
    known.add(key);
    insert({ kind: 'gap', key, at: gap.afterSeq + 0.4, gap });
  }

  function insert(row: LogRow): void {
    const index = placeOf(rows, row.at);
    if (index === rows.length) rows.push(row);
    else rows = rows.toSpliced(index, 0, row);
  }
}

/** The index of a row: behind all with the same or a smaller `at`. */
function placeOf(rows: readonly LogRow[], at: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.at ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

type LineRow = Extract<LogRow, { kind: 'line' }>;
const rowOfLine = (line: LogLine): LineRow => ({ kind: 'line', key: line.seq, at: line.seq, line });
const isLine = (row: LogRow): row is LineRow => row.kind === 'line';
const seqOf = (row: LineRow | undefined): number => row?.line.seq ?? 0;
