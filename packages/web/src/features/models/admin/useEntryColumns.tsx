import type { CatalogueRow } from '@stagi/contract/adminModels.ts';
import { useT } from '../../../i18n/i18n.ts';
import { CutText } from '../../../ui/CutText.tsx';
import { Tag } from '../../../ui/Tag.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import type { Column } from '../../../ui/table/tableTypes.ts';
import { formatParameters, TASK_WORDS, type Task } from '../modelWords.ts';
import classes from './Entry.module.css';
import { STATE_WORDS } from './entriesInput.ts';

export function useEntryColumns(edit: (row: CatalogueRow) => void): Column<CatalogueRow>[] {
  const t = useT();
  const none = <span className="muted">—</span>;
  return [
    {
      key: 'title',
      title: t('Title'),
      sortBy: 'title',
      card: 'head',
      cell: (row) => (
        <span className={classes.name}>
          <button type="button" className={classes.open} onClick={() => edit(row)}>
            {row.title}
          </button>
          <CutText className={classes.small}>{row.modelId}</CutText>
        </span>
      ),
    },
    { key: 'state', title: t('Status'), sortBy: 'state', cell: (row) => <EntryTags row={row} /> },
    { key: 'publisher', title: t('Publisher'), sortBy: 'publisher', cell: ({ publisher }) => publisher || none },
    {
      key: 'task',
      title: t('Task'),
      extra: true,
      cell: ({ task }) => (task in TASK_WORDS ? t(TASK_WORDS[task as Task]) : none),
    },
    {
      key: 'parameters',
      title: t('Parameters'),
      sortBy: 'parameters',
      align: 'right',
      cell: ({ parameters }) => (parameters === null ? none : formatParameters(parameters)),
    },
    {
      key: 'changed',
      title: t('Changed fields'),
      cell: ({ changed }) => (changed.length > 0 ? <CutText>{changed.join(', ')}</CutText> : none),
    },
    { key: 'note', title: t('Note'), extra: true, cell: ({ note }) => (note ? <CutText>{note}</CutText> : none) },
    {
      key: 'changedAt',
      title: t('Last change'),
      sortBy: 'createdAt',
      align: 'right',
      cell: ({ changedAt }) => (changedAt ? <DateTime at={changedAt} /> : none),
    },
  ];
}

/** What operators made of an entry, and whether it still has an effect. */
function EntryTags({ row: { state, problem } }: { row: CatalogueRow }) {
  const t = useT();
  return (
    <span className={classes.tags}>
      <Tag color={state === 'shipped' ? 'gray' : 'primary'}>{t(STATE_WORDS[state])}</Tag>
      {problem && <Tag>{t('Without effect')}</Tag>}
    </span>
  );
}
