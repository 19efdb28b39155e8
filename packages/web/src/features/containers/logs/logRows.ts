import type { LogGap, LogLine } from '@stagi/contract/logging.ts';

/** What stands on one line of the view. `at` orders rows: a line by its number, the others between two lines. */
export type LogRow =
  | { kind: 'line'; key: number; at: number; line: LogLine }
  | { kind: 'gap'; key: string; at: number; gap: LogGap }
  /** Lines that are in storage but not here yet. */
  | { kind: 'hole'; key: string; at: number; fromSeq: number; toSeq: number };

export interface LogRows {
  /** Rows in order. Another array only when rows are put in anywhere but at the end. */
  readonly rows: readonly LogRow[];
  /** Number of the first and the last line here; 0 when there is none. */
  firstSeq(): number;
  lastSeq(): number;
  /** Puts lines behind the last one; those that are here already are left out. Answers how many were new. */
  append(lines: readonly LogLine[], gaps: readonly LogGap[]): number;
  /** Puts lines before the first one. */
  prepend(lines: readonly LogLine[], gaps: readonly LogGap[]): void;
  /** Marks lines that will not come by themselves. */
  skip(fromSeq: number, toSeq: number): void;
  /** Puts lines at the end of a hole, which shrinks to what lies before them, or closes. */
  fill(
    hole: Extract<LogRow, { kind: 'hole' }>,
    lines: readonly LogLine[],
    gaps: readonly LogGap[],
    more: boolean,
  ): void;
  /** Drops the oldest rows but `keep`; answers whether any were. */
  trim(keep: number): boolean;
}

/** The lines of one log in their order, each once, with the places where some are missing. No I/O. */
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
      insert({ kind: 'hole', key: `hole ${fromSeq}`, at: fromSeq - 0.2, fromSeq, toSeq });
    },
    fill(hole, lines, gaps, more) {
      const index = rows.findIndex((row) => row.key === hole.key);
      if (index < 0) return;
      const inside = lines.filter((line) => line.seq >= hole.fromSeq && line.seq <= hole.toSeq);
      const first = inside[0]?.seq ?? 0;
      const rest = more && first > hole.fromSeq ? [{ ...hole, toSeq: first - 1 }] : [];
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

/** Where a row belongs: behind all that stand at or before `at`. */
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
