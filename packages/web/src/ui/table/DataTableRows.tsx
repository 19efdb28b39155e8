import { Skeleton } from '@mantine/core';
import { useT } from '../../i18n/i18n.ts';
import { BareCheckbox } from '../BareCheckbox.tsx';
import classes from './DataTable.module.css';
import type { Column, DataTableProps } from './tableTypes.ts';
import type { Selection } from './useSelection.ts';

type Table<Row> = DataTableProps<Row> & { selection?: Selection<Row>; withEnd: boolean };

interface BodyRowProps<Row> {
  row: Row;
  /**
   * The row left the list while somebody pointed at the rows. It keeps its place, pale and disabled, until the pointer
   * leaves.
   */
  gone: boolean;
  table: Table<Row>;
}

export function BodyRow<Row>({ row, gone, table }: BodyRowProps<Row>) {
  const { columns, rowLink, rowActions, rowTestId, selection, withEnd } = table;
  const selected = selection?.has(row) ?? false;
  return (
    <tr
      className={rowLink ? classes.clickable : undefined}
      data-testid={gone ? undefined : rowTestId}
      data-gone={gone || undefined}
      data-selected={selected || undefined}
      inert={gone}
    >
      {selection && (
        <td className={classes.check} data-card="check">
          <SelectRow row={row} name={table.rowName?.(row)} selection={selection} selected={selected} />
        </td>
      )}
      {columns.map((column, index) => (
        <td key={column.key} data-align={column.align} data-card={cardPlace(column, index)} data-label={column.title}>
          {index === 0 && rowLink ? (
            <span className={classes.link} data-row-link>
              {rowLink(row, column.cell(row))}
            </span>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
      {withEnd && (
        <td className={classes.actions} data-card="actions">
          {rowActions?.(row)}
        </td>
      )}
    </tr>
  );
}

interface SelectRowProps<Row> {
  row: Row;
  name?: string;
  selection: Selection<Row>;
  selected: boolean;
}

function SelectRow<Row>({ row, name, selection, selected }: SelectRowProps<Row>) {
  const t = useT();
  return (
    <BareCheckbox
      label={name === undefined ? t('Select this row') : t('Select {{name}}', { name })}
      checked={selected}
      onChange={({ nativeEvent }) => selection.toggle(row, { through: wasShifted(nativeEvent) })}
    />
  );
}

/** The change event of a click carries its modifier keys, though its type does not have them. */
function wasShifted(event: Event): boolean {
  return 'shiftKey' in event && event.shiftKey === true;
}

const SKELETON_ROWS = 5;

/** Rows of the height they will have. */
export function SkeletonRows<Row>({ columns, selection, withEnd }: Table<Row>) {
  return Array.from({ length: SKELETON_ROWS }, (_, row) => row).map((row) => (
    <tr key={row}>
      {selection && <td className={classes.check} data-card="hidden" />}
      {columns.map((column, index) => (
        <td key={column.key} data-card={cardPlace(column, index)} data-label={column.title} data-align={column.align}>
          <Skeleton
            height={12}
            width={`${45 + ((row * 17 + index * 29) % 40)}%`}
            ml={column.align === 'right' ? 'auto' : 0}
          />
        </td>
      ))}
      {withEnd && <td className={classes.actions} data-card="actions" />}
    </tr>
  ));
}

function cardPlace<Row>(column: Column<Row>, index: number): string {
  return column.card ?? (index === 0 ? 'head' : 'line');
}
