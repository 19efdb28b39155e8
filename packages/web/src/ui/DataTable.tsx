import { Skeleton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { ReactElement, ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import classes from './DataTable.module.css';
import { ErrorState } from './ErrorState.tsx';
import { TablePager } from './TablePager.tsx';

export interface Column<Row> {
  key: string;
  title: string;
  cell(row: Row): ReactNode;
  /** The name to sort by; a column without one cannot be sorted. */
  sortBy?: string;
  /** Figures stand right. */
  align?: 'left' | 'right';
  width?: number | string;
  /** Where the cell stands when rows are cards: `head` is the card's title line. */
  card?: 'head' | 'line' | 'hidden';
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
}

interface Props<Row> {
  /** What the table holds, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined while nothing has been loaded yet. */
  rows: readonly Row[] | undefined;
  rowKey(row: Row): string | number;
  /** Wraps the first cell in the link that the whole row becomes: `(row, cell) => <Link to=…>{cell}</Link>`. */
  rowLink?(row: Row, cell: ReactNode): ReactElement;
  /** The row's menu, at its end. */
  rowActions?(row: Row): ReactNode;
  sort?: Sort;
  onSort?(sort: Sort): void;
  paging?: PageOf;
  onPage?(page: number): void;
  /** What stands here when there are no rows: an `EmptyState`. */
  empty: ReactNode;
  /** What went wrong, in the person's language; rows that were loaded before stay. */
  error?: string | null;
  onRetry?(): void;
  /** Another page or order is being fetched; the old rows stay, paler. */
  stale?: boolean;
  /** `data-testid` of every row. */
  rowTestId?: string;
}

const SKELETON_ROWS = 5;

/** A list: table on wide screens, cards on narrow ones. Its state (order, page) lives outside. */
export function DataTable<Row>(props: Props<Row>) {
  const { label, columns, rows, rowActions, empty, error, onRetry, paging, onPage, stale = false } = props;
  if (error && !rows) {
    return (
      <div className={classes.frame}>
        <ErrorState message={error} onRetry={onRetry} />
      </div>
    );
  }
  if (rows && rows.length === 0) return <div className={classes.frame}>{empty}</div>;
  return (
    <div>
      <div className={classes.frame} data-rows data-stale={stale || undefined} aria-busy={stale || rows === undefined}>
        <table className={classes.table} aria-label={label}>
          <thead>
            <tr>
              {columns.map((column) => (
                <HeadCell key={column.key} column={column} sort={props.sort} onSort={props.onSort} />
              ))}
              {rowActions && <ActionsHead />}
            </tr>
          </thead>
          <tbody>
            {rows ? (
              rows.map((row) => <BodyRow key={props.rowKey(row)} row={row} table={props} />)
            ) : (
              <Waiting {...props} />
            )}
          </tbody>
        </table>
      </div>
      {paging && onPage && <TablePager paging={paging} onPage={onPage} />}
    </div>
  );
}

function HeadCell<Row>({ column, sort, onSort }: { column: Column<Row>; sort?: Sort; onSort?(sort: Sort): void }) {
  const { sortBy, title, align, width } = column;
  if (sortBy === undefined || !onSort) {
    return (
      <th scope="col" data-align={align} style={{ width }}>
        {title}
      </th>
    );
  }
  const direction = sort?.field === sortBy ? sort.direction : null;
  const next = direction === 'asc' ? 'desc' : 'asc';
  return (
    <th
      scope="col"
      data-align={align}
      style={{ width }}
      aria-sort={direction === 'asc' ? 'ascending' : direction === 'desc' ? 'descending' : 'none'}
    >
      <button type="button" className={classes.sort} onClick={() => onSort({ field: sortBy, direction: next })}>
        {title}
        <span className={classes.arrow} data-on={direction !== null || undefined} aria-hidden="true">
          {direction === 'desc' ? <IconArrowDown size={12} /> : <IconArrowUp size={12} />}
        </span>
      </button>
    </th>
  );
}

function ActionsHead() {
  const t = useT();
  return (
    <th scope="col" className={classes.actions}>
      <span className="visually-hidden">{t('Actions')}</span>
    </th>
  );
}

function BodyRow<Row>({ row, table }: { row: Row; table: Props<Row> }) {
  const { columns, rowLink, rowActions, rowTestId } = table;
  return (
    <tr className={rowLink ? classes.clickable : undefined} data-testid={rowTestId}>
      {columns.map((column, index) => (
        <td
          key={column.key}
          data-align={column.align}
          data-card={column.card ?? (index === 0 ? 'head' : 'line')}
          data-label={column.title}
        >
          {index === 0 && rowLink ? (
            <span className={classes.link}>{rowLink(row, column.cell(row))}</span>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
      {rowActions && (
        <td className={classes.actions} data-card="actions">
          {rowActions(row)}
        </td>
      )}
    </tr>
  );
}

function Waiting<Row>({ columns, rowActions }: Props<Row>) {
  return Array.from({ length: SKELETON_ROWS }, (_, row) => row).map((row) => (
    <tr key={row}>
      {columns.map((column, index) => (
        <td
          key={column.key}
          data-card={column.card ?? (index === 0 ? 'head' : 'line')}
          data-label={column.title}
          data-align={column.align}
        >
          <Skeleton
            height={12}
            width={`${45 + ((row * 17 + index * 29) % 40)}%`}
            ml={column.align === 'right' ? 'auto' : 0}
          />
        </td>
      ))}
      {rowActions && <td className={classes.actions} data-card="actions" />}
    </tr>
  ));
}
