import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useT } from '../../i18n/i18n.ts';
import { BareCheckbox } from '../BareCheckbox.tsx';
import { ColumnMenu } from './ColumnMenu.tsx';
import classes from './DataTable.module.css';
import type { Column, Sort } from './tableTypes.ts';
import type { ColumnChoice } from './useColumnChoice.ts';
import type { Selection } from './useSelection.ts';

interface Props<Row> {
  columns: readonly Column<Row>[];
  choice: ColumnChoice<Row>;
  selection?: Selection<Row>;
  withEnd: boolean;
  sort?: Sort;
  onSort?(sort: Sort): void;
}

export function DataTableHead<Row>({ columns, choice, selection, withEnd, sort, onSort }: Props<Row>) {
  const t = useT();
  // While the bar of actions lies over the head there is nothing to press below it.
  const onSortNow = selection && selection.size > 0 ? undefined : onSort;
  return (
    <thead>
      <tr>
        {selection && (
          <th scope="col" className={classes.check}>
            <SelectAll selection={selection} />
          </th>
        )}
        {columns.map((column) => (
          <HeadCell key={column.key} column={column} sort={sort} onSort={onSortNow} />
        ))}
        {withEnd && (
          <th scope="col" className={classes.actions}>
            <span className="visually-hidden">{t('Actions')}</span>
            {onSortNow === onSort && <ColumnMenu choice={choice} />}
          </th>
        )}
      </tr>
    </thead>
  );
}

export function SelectAll<Row>({ selection }: { selection: Selection<Row> }) {
  const t = useT();
  return (
    <BareCheckbox
      label={t('Select all on this page')}
      checked={selection.all}
      indeterminate={selection.size > 0 && !selection.all}
      disabled={selection.none}
      onChange={() => selection.toggleAll()}
    />
  );
}

interface HeadCellProps<Row> {
  column: Column<Row>;
  sort?: Sort;
  onSort?(sort: Sort): void;
}

function HeadCell<Row>({ column: { sortBy, title, align, width }, sort, onSort }: HeadCellProps<Row>) {
  const direction = sortBy !== undefined && sort?.field === sortBy ? sort.direction : null;
  const ariaSort = direction === 'asc' ? 'ascending' : direction === 'desc' ? 'descending' : 'none';
  return (
    <th scope="col" data-align={align} style={{ width }} aria-sort={sortBy === undefined ? undefined : ariaSort}>
      {sortBy === undefined || !onSort ? (
        title
      ) : (
        <button
          type="button"
          className={classes.sort}
          onClick={() => onSort({ field: sortBy, direction: direction === 'asc' ? 'desc' : 'asc' })}
        >
          {title}
          <span className={classes.arrow} data-on={direction !== null || undefined} aria-hidden="true">
            {direction === 'desc' ? <IconArrowDown size={12} /> : <IconArrowUp size={12} />}
          </span>
        </button>
      )}
    </th>
  );
}
