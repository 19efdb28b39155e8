import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react';
import { useT } from '../../i18n/i18n.ts';
import { ActionButton } from '../actions.tsx';
import { Button } from '../Button.tsx';
import { DropdownMenu } from '../DropdownMenu.tsx';
import { ColumnMenu } from './ColumnMenu.tsx';
import classes from './DataTableBar.module.css';
import { SelectAll } from './DataTableHead.tsx';
import type { BulkAction, Sort } from './tableTypes.ts';
import type { ColumnChoice } from './useColumnChoice.ts';
import type { Selection } from './useSelection.ts';

interface Props<Row> {
  choice: ColumnChoice<Row>;
  sort?: Sort;
  onSort?(sort: Sort): void;
  selection?: Selection<Row>;
  actions: readonly BulkAction<Row>[];
  withEnd: boolean;
}

/** The line over the rows: what can be done to the selected ones; for cards, which have no head, also the order. */
export function DataTableBar<Row>({ choice, sort, onSort, selection, actions }: Props<Row>) {
  const selecting = selection !== undefined && selection.size > 0;
  return (
    <div className={classes.bar} data-selecting={selecting || undefined}>
      <div className={classes.inner}>
        {selection && (
          <span className={classes.check}>
            <SelectAll selection={selection} />
          </span>
        )}
        {selecting ? (
          <Selected selection={selection} actions={actions} />
        ) : (
          <>
            <SortMenu choice={choice} sort={sort} onSort={onSort} />
            <ColumnMenu choice={choice} />
          </>
        )}
      </div>
    </div>
  );
}

function Selected<Row>({ selection, actions }: { selection: Selection<Row>; actions: readonly BulkAction<Row>[] }) {
  const t = useT();
  return (
    <>
      <span className={classes.selected} role="status">
        {t('{{count}} selected', { count: selection.size })}
      </span>
      {actions.map((action) => (
        <BulkButton key={action.label} action={action} rows={selection.rows} />
      ))}
      <Button color="gray" look="quiet" size="xxs" onClick={selection.clear}>
        {t('Clear the selection')}
      </Button>
    </>
  );
}

function BulkButton<Row>({ action, rows }: { action: BulkAction<Row>; rows: readonly Row[] }) {
  const verdicts = rows.map((row) => ({ row, verdict: action.verdict(row) }));
  const willing = verdicts.filter(({ verdict }) => verdict.allowed).map(({ row }) => row);
  const refusal = verdicts.find(({ verdict }) => !verdict.allowed)?.verdict;
  return (
    <ActionButton
      size="xxs"
      tone={action.danger ? 'danger' : 'default'}
      icon={action.icon}
      testId={action.testId}
      verdict={willing.length > 0 ? { allowed: true } : refusal}
      onClick={() => action.onClick(willing)}
    >
      {willing.length > 0 && willing.length < rows.length ? `${action.label} (${willing.length})` : action.label}
    </ActionButton>
  );
}

/** Cards have no head to press. */
function SortMenu<Row>({ choice, sort, onSort }: Pick<Props<Row>, 'choice' | 'sort' | 'onSort'>) {
  const t = useT();
  const columns = choice.shown.filter(({ sortBy }) => sortBy !== undefined);
  if (!onSort || columns.length === 0) return null;
  const current = columns.find(({ sortBy }) => sortBy === sort?.field);
  const Arrow = sort?.direction === 'desc' ? IconArrowDown : IconArrowUp;
  const items = columns.map(({ title, sortBy }) => ({
    label: title,
    end: sortBy === sort?.field ? <Arrow size={14} aria-hidden="true" /> : undefined,
    onClick: () => {
      const again = sortBy === sort?.field && sort?.direction === 'asc';
      onSort({ field: sortBy ?? '', direction: again ? 'desc' : 'asc' });
    },
  }));
  return (
    <DropdownMenu items={items}>
      <Button color="gray" look="quiet" size="xxs" icon={<IconArrowsSort size={14} />}>
        {current ? t('Sorted by {{column}}', { column: current.title }) : t('Sort')}
      </Button>
    </DropdownMenu>
  );
}
