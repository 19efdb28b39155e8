import { useRef, useState } from 'react';
import type { RowKey } from './tableTypes.ts';

export interface Selection<Row> {
  /** The selected rows that are on the page, as they are now. */
  rows: readonly Row[];
  size: number;
  all: boolean;
  /** There is nothing to select. */
  none: boolean;
  has(row: Row): boolean;
  /** `through`: with every row between this one and the one before it that was ticked (Shift). */
  toggle(row: Row, options?: { through?: boolean }): void;
  toggleAll(): void;
  clear(): void;
}

/** Which of the rows on a page are selected. Rows that leave the page leave the selection. */
export function useSelection<Row>(page: readonly Row[], keyOf: (row: Row) => RowKey): Selection<Row> {
  const [keys, setKeys] = useState<ReadonlySet<RowKey>>(new Set());
  const last = useRef<RowKey | null>(null);
  const rows = page.filter((row) => keys.has(keyOf(row)));
  const all = page.length > 0 && rows.length === page.length;

  return {
    rows,
    size: rows.length,
    all,
    none: page.length === 0,
    has: (row) => keys.has(keyOf(row)),
    toggle(row, { through = false } = {}) {
      const key = keyOf(row);
      const next = new Set(rows.map(keyOf));
      const on = !next.has(key);
      for (const each of through ? between(page.map(keyOf), last.current, key) : [key]) {
        if (on) next.add(each);
        else next.delete(each);
      }
      last.current = key;
      setKeys(next);
    },
    toggleAll: () => setKeys(all ? new Set() : new Set(page.map(keyOf))),
    clear: () => setKeys(new Set()),
  };
}

function between(order: readonly RowKey[], from: RowKey | null, to: RowKey): readonly RowKey[] {
  const ends = [from === null ? -1 : order.indexOf(from), order.indexOf(to)].sort((a, b) => a - b);
  const [first = -1, last = -1] = ends;
  return first === -1 ? [to] : order.slice(first, last + 1);
}
