import { useState } from 'react';
import type { RowKey } from './tableTypes.ts';

export interface StableRow<Row> {
  row: Row;
  /** No longer in the list; shown where it was. */
  gone: boolean;
}

interface Given<Row> {
  rows: readonly Row[] | undefined;
  rowKey(row: Row): RowKey;
  /** What was asked for; rows of another question never wait. */
  listKey: string;
  /** Somebody points at the rows. */
  held: boolean;
  /** The rows are still those of the question before. */
  stale: boolean;
}

/** The rows as they come, but in the places they had for as long as somebody points at them. */
export function useStableRows<Row>({ rows, rowKey, listKey, held, stale }: Given<Row>) {
  const [shown, setShown] = useState({ rows, listKey });
  // Without rows before or after, nothing moves under the pointer.
  const bothHaveRows = (shown.rows?.length ?? 0) > 0 && (rows?.length ?? 0) > 0;
  const keep = held && !stale && shown.listKey === listKey && bothHaveRows;
  if (!keep && (shown.rows !== rows || (shown.listKey !== listKey && !stale))) {
    setShown({ rows, listKey: stale ? shown.listKey : listKey });
  }
  if (!rows) return { rows: undefined, waiting: 0 };
  if (!keep || !shown.rows) return { rows: rows.map((row) => ({ row, gone: false })), waiting: 0 };
  return mergeInPlace(shown.rows, rows, rowKey);
}

/** Fresh contents in old places: rows that left stay as `gone`, those that came are counted and wait. */
export function mergeInPlace<Row>(
  old: readonly Row[],
  fresh: readonly Row[],
  keyOf: (row: Row) => RowKey,
): { rows: StableRow<Row>[]; waiting: number } {
  const now = new Map(fresh.map((row) => [keyOf(row), row]));
  const rows = old.map((row) => {
    const same = now.get(keyOf(row));
    return { row: same ?? row, gone: same === undefined };
  });
  const known = new Set(old.map(keyOf));
  return { rows, waiting: fresh.filter((row) => !known.has(keyOf(row))).length };
}
