import type { ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import { ActionMenu } from '../ui/actions.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { SearchBox } from '../ui/SearchBox.tsx';
import { DataTable } from '../ui/table/DataTable.tsx';
import { ListBar } from '../ui/table/ListBar.tsx';
import { NoMatches } from '../ui/table/NoMatches.tsx';
import type { DataTableProps } from '../ui/table/tableTypes.ts';
import type { ListOf } from './useList.ts';
import type { RowActions } from './useRowActions.tsx';

type TableProps<Row> = Pick<
  DataTableProps<Row>,
  'label' | 'name' | 'columns' | 'rowKey' | 'rowName' | 'rowLink' | 'rowActions' | 'rowTestId'
>;

export interface ListTableProps<Row> extends TableProps<Row> {
  /** From `useList`. */
  list: ListOf<Row>;
  /** The placeholder of the search box; without it there is none. */
  search?: string;
  searchWidth?: number;
  filters?: ReactNode;
  /** At the beginning of the bar, also of an empty list. */
  barStart?: ReactNode;
  /** The button that makes another: at the end of the bar, and in the empty list. */
  create?: ReactNode;
  /** From `useRowActions`; a page with a menu of its own gives the menu alone. */
  actions?: Pick<RowActions<Row>, 'of'> & Partial<RowActions<Row>>;
  /** The label of a row's menu; `rowName` makes one by itself. */
  menuLabel?(row: Row): string;
  /** What stands in place of the rows while search and filters let nothing through. */
  noMatches: { title: string; text?: ReactNode };
  /** What stands in place of the rows while there are none; left out for a list that always has some. */
  empty?: { icon: ReactNode; title: string; text: ReactNode; action?: ReactNode };
}

/** A list with its search and filters, the menu of each row and what can be done to the selected ones. */
export function ListTable<Row>(props: ListTableProps<Row>) {
  const { list, search, searchWidth, filters, barStart, create, actions, menuLabel, noMatches, empty, ...table } =
    props;
  const t = useT();
  const { state } = list;
  const bar = list.isEmpty ? {} : { search, filters, create };
  const labelOf = menuLabel ?? ((row: Row) => t('Actions for {{title}}', { title: table.rowName?.(row) ?? '' }));
  return (
    <>
      {(barStart || bar.search || bar.filters || bar.create) && (
        <ListBar end={bar.create}>
          {barStart}
          {bar.search && (
            <SearchBox width={searchWidth} value={state.search} onChange={state.setSearch} placeholder={bar.search} />
          )}
          {bar.filters}
        </ListBar>
      )}
      <DataTable
        bulk={actions?.bulk}
        rowActions={actions && ((row: Row) => <ActionMenu label={labelOf(row)} actions={() => actions.of(row)} />)}
        {...list.table}
        {...table}
        empty={
          state.narrowed || !empty ? (
            <NoMatches title={noMatches.title} onClear={state.clear}>
              {noMatches.text}
            </NoMatches>
          ) : (
            <EmptyState icon={empty.icon} title={empty.title} action={empty.action ?? create}>
              {empty.text}
            </EmptyState>
          )
        }
      />
      {actions?.dialog}
    </>
  );
}
