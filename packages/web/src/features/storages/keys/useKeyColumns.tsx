import type { StorageKey } from '@stagi/contract/storages.ts';
import { useT } from '../../../i18n/i18n.ts';
import { CutText } from '../../../ui/CutText.tsx';
import { DateTime, TimeAgo } from '../../../ui/Time.tsx';
import { timeColumn } from '../../../ui/table/columns.tsx';
import { NameCell } from '../../../ui/table/NameCell.tsx';
import type { Column } from '../../../ui/table/tableTypes.ts';
import classes from '../Storages.module.css';

export function useKeyColumns(): Column<StorageKey>[] {
  const t = useT();
  return [
    {
      key: 'title',
      title: t('Title'),
      sortBy: 'title',
      card: 'head',
      cell: ({ title, accessKeyId }) => <NameCell title={title} slug={accessKeyId} />,
    },
    {
      key: 'mode',
      title: t('Access'),
      sortBy: 'mode',
      cell: ({ mode }) => (mode === 'read-only' ? t('Read-only') : t('Read and write')),
    },
    {
      key: 'prefix',
      title: t('Prefix'),
      cell: ({ prefix }) => (prefix ? <CutText className="mono">{prefix}</CutText> : '—'),
    },
    {
      key: 'lastUsedAt',
      title: t('Last used'),
      sortBy: 'lastUsedAt',
      align: 'right',
      cell: ({ lastUsedAt }) =>
        lastUsedAt ? <TimeAgo at={lastUsedAt} /> : <span className="muted">{t('Never')}</span>,
    },
    {
      key: 'expiresAt',
      title: t('Ends'),
      align: 'right',
      cell: ({ expiresAt, replacedBy }) =>
        expiresAt ? (
          <span className={classes.two}>
            <DateTime at={expiresAt} />
            {replacedBy && <span className={classes.second}>{t('replaced by {{key}}', { key: replacedBy })}</span>}
          </span>
        ) : (
          <span className="muted">{t('Never')}</span>
        ),
    },
    {
      key: 'createdBy',
      title: t('Created by'),
      cell: ({ createdBy }) => (createdBy ? <CutText>{createdBy}</CutText> : '—'),
    },
    timeColumn('createdAt', t('Created')),
  ];
}
