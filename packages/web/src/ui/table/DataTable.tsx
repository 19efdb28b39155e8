import { useRef } from 'react';
import { ErrorState } from '../ErrorState.tsx';
import classes from './DataTable.module.css';
import { DataTableBar } from './DataTableBar.tsx';
import { DataTableHead } from './DataTableHead.tsx';
import { BodyRow, SkeletonRows } from './DataTableRows.tsx';
import { onRowClick, onRowKey } from './dataTableKeys.ts';
import { PagerSkeleton, TablePager } from './TablePager.tsx';
import type { DataTableProps } from './tableTypes.ts';
import { useColumnChoice } from './useColumnChoice.ts';
import { usePointedRows } from './usePointedRows.ts';
import { useSelection } from './useSelection.ts';
import { useStableRows } from './useStableRows.ts';

/** A list: table on wide screens, cards on narrow ones. Its state (order, page) lives outside. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { rows, rowKey, error, stale = false, paging, onPage, onLimit, bulk = [] } = props;
  const frame = useRef<HTMLDivElement>(null);
  const { held, hold } = usePointedRows<HTMLTableSectionElement>(rows ? rows.length > 0 : !error);
  const choice = useColumnChoice(props.name, props.columns);
  const steady = useStableRows({
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
    // Shows the next page from its top, also after paging at the end of a long one.
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
