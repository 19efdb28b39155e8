import { useMemo, useSyncExternalStore } from 'react';
import type { Column } from './tableTypes.ts';

export interface ColumnChoice<Row> {
  /** Undefined where columns cannot be chosen. */
  options: readonly Column<Row>[] | undefined;
  shown: readonly Column<Row>[];
  isShown(column: Column<Row>): boolean;
  toggle(column: Column<Row>): void;
  /** Back to what is shown before anybody chooses; undefined while that is shown. */
  reset?(): void;
}

/** Which columns of a table are shown: everybody's own choice, kept in the browser. The first always is. */
export function useColumnChoice<Row>(name: string | undefined, columns: readonly Column<Row>[]): ColumnChoice<Row> {
  // Stores only the differences from the default, so that a column added later appears by itself.
  const [turned, setTurned] = useStoredList(`columns:${name ?? ''}`);
  const isShown = (column: Column<Row>) =>
    column === columns[0] || turned.includes(column.key) === (column.extra === true);
  const options = columns.slice(1);
  return {
    options: name === undefined ? undefined : options,
    shown: columns.filter(isShown),
    isShown,
    toggle: ({ key: column }) =>
      setTurned(turned.includes(column) ? turned.filter((one) => one !== column) : [...turned, column]),
    reset: turned.length > 0 ? () => setTurned([]) : undefined,
  };
}

const listeners = new Set<() => void>();

/** A list of strings in the browser's storage, the same in every table and tab that reads it. */
function useStoredList(key: string): [readonly string[], (list: readonly string[]) => void] {
  const stored = useSyncExternalStore(
    subscribe,
    () => localStorage.getItem(key),
    () => null,
  );
  const list = useMemo(() => listOfStrings(stored), [stored]);
  return [
    list,
    (next) => {
      if (next.length > 0) localStorage.setItem(key, JSON.stringify(next));
      else localStorage.removeItem(key);
      for (const listener of listeners) listener();
    },
  ];
}

/** Storage tells other tabs of a change, not the one that made it. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

/** What the browser stores may have been written by anything. */
function listOfStrings(stored: string | null): string[] {
  try {
    const value: unknown = JSON.parse(stored ?? '[]');
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  } catch (cause) {
    console.warn('The stored choice of columns cannot be read', cause);
    return [];
  }
}
