import { readLocalStorageValue, useLocalStorage } from '@mantine/hooks';
import type { Column } from './DataTable.tsx';

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
  const key = `columns:${name ?? ''}`;
  // Those that differ from the rule, so that a column which is added later appears by itself.
  const [turned, setTurned, forget] = useLocalStorage<string[]>({
    key,
    defaultValue: [],
    getInitialValueInEffect: false,
    deserialize: listOfStrings,
  });
  const isShown = (column: Column<Row>) =>
    column === columns[0] || turned.includes(column.key) === (column.extra === true);
  const options = columns.slice(1);
  return {
    options: name === undefined ? undefined : options,
    shown: columns.filter(isShown),
    isShown,
    toggle: ({ key: column }) =>
      setTurned(turned.includes(column) ? turned.filter((one) => one !== column) : [...turned, column]),
    reset: turned.length > 0 && readLocalStorageValue({ key }) !== undefined ? forget : undefined,
  };
}

/** What the browser stores may have been written by anything. */
function listOfStrings(stored: string | undefined): string[] {
  try {
    const value: unknown = JSON.parse(stored ?? '[]');
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  } catch (cause) {
    console.warn('The stored choice of columns cannot be read', cause);
    return [];
  }
}
