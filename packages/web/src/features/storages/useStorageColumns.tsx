import type { Storage } from '@stagi/contract/storages.ts';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { CutText } from '../../ui/CutText.tsx';
import { formatDate, formatNumber } from '../../ui/format.ts';
import { Money } from '../../ui/Money.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { Deadline } from '../../ui/Time.tsx';
import { nameColumn, timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './Storages.module.css';
import { UseBar } from './UseBar.tsx';

export function useStorageColumns(): Column<Storage>[] {
  const t = useT();
  return [
    nameColumn(t('Name')),
    { key: 'status', title: t('Status'), sortBy: 'status', cell: (storage) => <Status of={storage} /> },
    { key: 'kind', title: t('Kind'), cell: (storage) => <Kind of={storage} /> },
    { key: 'use', title: t('Used'), sortBy: 'usedBytes', cell: (storage) => <UseBar storage={storage} /> },
    {
      key: 'objects',
      title: t('Objects'),
      align: 'right',
      extra: true,
      cell: ({ objectCount }) => <span className="mono">{formatNumber(objectCount, 0)}</span>,
    },
    {
      key: 'location',
      title: t('Location'),
      sortBy: 'location',
      cell: ({ locationTitle }) => t(locationTitle),
    },
    {
      key: 'price',
      title: t('Price'),
      sortBy: 'pricePerMonth',
      align: 'right',
      cell: ({ kind, pricePerMonth, pricePerHour }) =>
        kind === 'log' ? (
          t('Free of charge')
        ) : (
          <span className={classes.price}>
            <Money price={pricePerMonth} per="month" />
            <span className={classes.second}>
              <Money price={pricePerHour} per="hour" />
            </span>
          </span>
        ),
    },
    timeColumn('createdAt', t('Created')),
    { key: 'createdBy', title: t('Created by'), extra: true, cell: ({ createdBy }) => createdBy ?? '—' },
  ];
}

function Status({ of: { status, statusSince, statusDeadline, readOnly, deletedAt } }: { of: Storage }) {
  const t = useT();
  return (
    <span className={classes.status} data-testid="storage-status">
      <StatusBadge status={status} />
      {statusDeadline ? (
        <span className={classes.underStatus}>
          <Deadline since={statusSince} deadline={null} />
        </span>
      ) : (
        <>
          {readOnly && status === 'rented' && <span className={classes.underStatus}>{t('Read-only')}</span>}
          {deletedAt && (
            <span className={classes.underStatus}>
              {t('deleted on {{when}}', { when: formatDate(deletedAt, 'DD.MM.YYYY') })}
            </span>
          )}
        </>
      )}
    </span>
  );
}

function Kind({ of: { instance, kind } }: { of: Storage }) {
  const t = useT();
  if (kind === 'storage') return t('Storage');
  return (
    <span className={classes.two}>
      <span>{t('Log bucket')}</span>
      {instance && (
        <Link className={`quiet-link ${classes.second}`} to={paths.instance(instance.id)}>
          <CutText>{instance.title}</CutText>
        </Link>
      )}
    </span>
  );
}
