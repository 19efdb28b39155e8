import type { Verdict } from '@stagi/contract/verdict.ts';
import type { ReactElement, ReactNode } from 'react';

export interface Column<Row> {
  key: string;
  title: string;
  cell(row: Row): ReactNode;
  /** The name to sort by; a column without one cannot be sorted. */
  sortBy?: string;
  /** Figures stand right. */
  align?: 'left' | 'right';
  width?: number | string;
  /** Where the cell stands when rows are cards: `head` is the card's title line, `foot` its last line, beside the actions. */
  card?: 'head' | 'line' | 'foot' | 'hidden';
  /** Shown only to those who choose it. */
  extra?: boolean;
}

export interface Sort {
  field: string;
  direction: 'asc' | 'desc';
}

export interface PageOf {
  page: number;
  limit: number;
  totalPages: number;
  totalCount: number;
  /** There are more rows than `totalCount`: the rest is not counted. */
  isMore?: boolean;
}

export type RowKey = string | number;

export interface DataTableProps<Row> {
  /** What the table holds, for screen readers. */
  label: string;
  /** Under this name the browser remembers which columns are shown; without it they cannot be chosen. */
  name?: string;
  columns: readonly Column<Row>[];
  /** Undefined while nothing has been loaded yet. */
  rows: readonly Row[] | undefined;
  /** Changes with what was asked for (page, order, filters): until then rows keep their place under a pointer. */
  listKey?: string;
  rowKey(row: Row): RowKey;
  /** Wraps the first cell in the link that the whole row becomes: `(row, cell) => <Link to=…>{cell}</Link>`. */
  rowLink?(row: Row, cell: ReactNode): ReactElement;
  /** The row's menu, at its end. */
  rowActions?(row: Row): ReactNode;
  /** What can be done to several rows at once; with it rows can be selected. */
  bulk?: readonly BulkAction<Row>[];
  /** How a row is called in the label of its checkbox. */
  rowName?(row: Row): string;
  sort?: Sort;
  onSort?(sort: Sort): void;
  paging?: PageOf;
  onPage?(page: number): void;
  onLimit?(limit: number): void;
  /** What stands here when there are no rows: an `EmptyState`. */
  empty: ReactNode;
  /** What went wrong, in the person's language; rows that were loaded before stay. */
  error?: string | null;
  onRetry?(): void;
  /** Another try is under way. */
  retrying?: boolean;
  /** Another page or order is being fetched; the old rows stay, paler. */
  stale?: boolean;
  /** `data-testid` of every row. */
  rowTestId?: string;
}

/** Something to do to several rows at once. */
export interface BulkAction<Row> {
  label: string;
  icon?: ReactNode;
  danger?: boolean;
  testId?: string;
  /** Whether one row allows it; it is done to those that do. */
  verdict(row: Row): Verdict;
  onClick(rows: readonly Row[]): void;
}
