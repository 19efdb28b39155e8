import { type ReactElement, type ReactNode, useRef } from 'react';
import classes from './DataTable.module.css';
import { type BulkAction, DataTableBar } from './DataTableBar.tsx';
import { DataTableHead } from './DataTableHead.tsx';
import { BodyRow, SkeletonRows } from './DataTableRows.tsx';
import { onRowClick, onRowKey } from './dataTableKeys.ts';
import { ErrorState } from './ErrorState.tsx';
import { PagerSkeleton, TablePager } from './TablePager.tsx';
import { useColumnChoice } from './useColumnChoice.ts';
import { useHold } from './useHold.ts';
import { useSelection } from './useSelection.ts';
import { useSteadyRows } from './useSteadyRows.ts';

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
  /** There are more than `totalCount`, which nobody counted. */
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

/** A list: table on wide screens, cards on narrow ones. Its state (order, page) lives outside. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { rows, rowKey, error, stale = false, paging, onPage, onLimit, bulk = [] } = props;
  const frame = useRef<HTMLDivElement>(null);
  const { held, hold } = useHold<HTMLTableSectionElement>(rows ? rows.length > 0 : !error);
  const choice = useColumnChoice(props.name, props.columns);
  const steady = useSteadyRows({
    rows,
    rowKey,
    listKey: props.listKey ?? '',
    held,
    stale,
  });
  const here = steady.rows?.filter(({ gone }) => !gone).map(({ row }) => row) ?? [];
  const selection = useSelection(here, rowKey);

  if (error && !rows) {
    return (
      <div className={classes.frame}>
        <ErrorState message={error} onRetry={props.onRetry} retrying={props.retrying} />
      </div>
    );
  }
  if (rows && rows.length === 0) return <div className={classes.frame}>{props.empty}</div>;

  const parts = {
    ...props,
    columns: choice.shown,
    selection: bulk.length > 0 ? selection : undefined,
    withEnd: props.rowActions !== undefined || props.name !== undefined,
  };

  function turnTo(page: number): void {
    onPage?.(page);
    // The next page begins at its beginning, also for who turned at the end of a long one.
    if ((frame.current?.getBoundingClientRect().top ?? 0) < 0) frame.current?.scrollIntoView({ block: 'start' });
  }

  return (
    <div className={classes.list}>
      <div
        ref={frame}
        className={classes.frame}
        data-rows
        data-stale={stale || undefined}
        aria-busy={stale || rows === undefined}
      >
        <DataTableBar
          choice={choice}
          sort={props.sort}
          onSort={props.onSort}
          selection={parts.selection}
          actions={bulk}
          withEnd={parts.withEnd}
        />
        <table className={classes.table} aria-label={props.label} data-selecting={selection.size > 0 || undefined}>
          <DataTableHead {...parts} choice={choice} />
          <tbody onClick={onRowClick} onKeyDown={(event) => onRowKey(event, bulk.length > 0)} {...hold}>
            {steady.rows ? (
              steady.rows.map(({ row, gone }) => <BodyRow key={rowKey(row)} row={row} gone={gone} table={parts} />)
            ) : (
              <SkeletonRows {...parts} />
            )}
          </tbody>
        </table>
      </div>
      {paging && onPage ? (
        <TablePager paging={paging} onPage={turnTo} onLimit={onLimit} waiting={steady.waiting} />
      ) : (
        onPage && <PagerSkeleton />
      )}
    </div>
  );
}
