import type { Activity } from '@stagi/contract/instances.ts';
import { IconHistory } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import classes from './ActivityTable.module.css';
import { type Column, DataTable, type PageOf } from './DataTable.tsx';
import { EmptyState } from './EmptyState.tsx';
import { STATUS } from './status.ts';
import { DateTime } from './Time.tsx';

interface Props {
  rows: readonly Activity[] | undefined;
  error?: string | null;
  onRetry?(): void;
  stale?: boolean;
  paging?: PageOf;
  onPage?(page: number): void;
}

/** What happened to a server, newest first. */
export function ActivityTable(props: Props) {
  const t = useT();
  const columns: Column<Activity>[] = [
    { key: 'what', title: t('What'), cell: (activity) => <What activity={activity} /> },
    {
      key: 'detail',
      title: t('Detail'),
      cell: ({ detail }) => detail && <span className={classes.detail}>{t(detail)}</span>,
    },
    { key: 'who', title: t('Who'), cell: ({ actor }) => actor ?? <span className="muted">{t('The platform')}</span> },
    { key: 'when', title: t('When'), align: 'right', width: 160, cell: ({ at }) => <DateTime at={at} /> },
  ];
  return (
    <DataTable
      {...props}
      label={t('Activities')}
      columns={columns}
      rowKey={({ id }) => id}
      empty={
        <EmptyState icon={<IconHistory size={20} />} title={t('Nothing has happened yet')}>
          {t('Every change of this server and who made it will be listed here.')}
        </EmptyState>
      }
    />
  );
}

function What({ activity: { kind, from, to } }: { activity: Activity }): ReactNode {
  const t = useT();
  if (kind !== 'status') return <span className={classes.kind}>{t(kind)}</span>;
  const words = [from, to].filter((status) => status !== null).map((status) => t(STATUS[status]?.word ?? status));
  return words.join(' → ');
}
