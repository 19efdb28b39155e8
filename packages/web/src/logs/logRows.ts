import type { LogGap, LogLine, LogRun } from '@stagi/contract/logging.ts';

/** A row of the view. `at` orders rows: a line by its number, the others between two lines. */
export type LogRow =
  | { kind: 'line'; key: number; at: number; line: LogLine }
  | { kind: 'gap'; key: string; at: number; gap: LogGap }
  /** Lines that are stored but not loaded. */
  | { kind: 'unloaded'; key: string; at: number; fromSeq: number; toSeq: number }
  /** The beginning of a run, and how the one before it ended. Not of the first run. */
  | { kind: 'run'; key: string; at: number; run: LogRun; before: LogRun | null };

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
  /**
   * Adds runs, or what is new about them. Each is marked before its first line, or at the end while it has none; a run
   * that began before the first loaded line is not, unless `fromStart`: no older lines exist.
   */
  addRuns(news: readonly LogRun[], fromStart: boolean): void;
  /** Drops the oldest rows beyond `keep`. Returns whether there were any. */
  trim(keep: number): boolean;
}

/** The lines of a log in order, each once, with its gaps and unloaded ranges. No I/O. */
export function createLogRows(): LogRows {
  let rows: LogRow[] = [];
  const known = new Set<string>();
  const runs = new Map<number, LogRun>();
  let isFromStart = false;
  /** A run is marked behind the last line. */
  let hasOpenMark = false;

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
      if (fresh.length > 0 && hasOpenMark) markRuns();
      for (const gap of gaps) addGap(gap);
      return fresh.length;
    },
    prepend(lines, gaps) {
      const first = seqOf(rows.find(isLine));
      const fresh = first === 0 ? lines : lines.filter((line) => line.seq < first);
      rows = [...fresh.map(rowOfLine), ...rows];
      markRuns();
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
      markRuns();
      for (const gap of gaps) addGap(gap);
    },
    addRuns(news, fromStart) {
      const isNews = news.some((run) => JSON.stringify(run) !== JSON.stringify(runs.get(run.number)));
      if (!isNews && fromStart === isFromStart) return;
      for (const run of news) runs.set(run.number, run);
      isFromStart = fromStart;
      markRuns();
    },
    trim(keep) {
      if (rows.length <= keep) return false;
      for (const row of rows.slice(0, -keep)) if (row.kind === 'gap') known.delete(row.key);
      rows = rows.slice(-keep);
      isFromStart = false;
      return true;
    },
  };

  function lastSeq(): number {
    return seqOf(rows.findLast(isLine));
  }

  /** Lines of the run before may still come behind a mark at the end. */
  function markRuns(): void {
    hasOpenMark = runs.size > 0;
    if (!rows.some(isLine)) return;
    const marks = [...runs.values()].filter(({ number }) => number > 1).sort((a, b) => a.number - b.number);
    const marked: LogRow[] = [];
    let next = 0;
    let isPreceded = isFromStart;
    const mark = (at: number) => {
      const run = marks[next];
      next += 1;
      if (run && isPreceded) {
        marked.push({ kind: 'run', key: `run ${run.number}`, at, run, before: runs.get(run.number - 1) ?? null });
      }
    };
    for (const row of rows) {
      if (row.kind === 'run') continue;
      if (isLine(row)) {
        while (next < marks.length && (marks[next]?.linesFrom ?? '') <= row.line.time) mark(row.at - 0.3);
        isPreceded = true;
      }
      marked.push(row);
    }
    hasOpenMark = next < marks.length;
    while (next < marks.length) mark(Number.POSITIVE_INFINITY);
    rows = marked;
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
