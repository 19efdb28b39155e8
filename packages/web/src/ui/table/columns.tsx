import { DateTime } from '../Time.tsx';
import { NameCell } from './NameCell.tsx';
import type { Column } from './tableTypes.ts';

/** Title over Unique ID. */
export function nameColumn(title: string): Column<{ title: string; slug: string }> {
  return { key: 'title', title, sortBy: 'title', cell: (row) => <NameCell title={row.title} slug={row.slug} /> };
}

/** A time that the list can be sorted by. */
export function timeColumn<Key extends string>(key: Key, title: string): Column<Record<Key, string>> {
  return { key, title, sortBy: key, align: 'right', cell: (row) => <DateTime at={row[key]} /> };
}
