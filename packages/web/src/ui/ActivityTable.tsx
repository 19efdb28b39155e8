import type { Activity } from '@stagi/contract/instances.ts';
import type { ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import { personName } from '../i18n/personName.ts';
import classes from './ActivityTable.module.css';
import { type Column, DataTable, type DataTableProps } from './DataTable.tsx';
import { STATUS } from './status.ts';
import { DateTime } from './Time.tsx';

type Props = Omit<DataTableProps<Activity>, 'label' | 'columns' | 'rowKey'>;

/** What happened to a server. */
export function ActivityTable(props: Props) {
  const t = useT();
  const columns: Column<Activity>[] = [
    { key: 'what', title: t('What'), cell: (activity) => <What activity={activity} /> },
    {
      key: 'detail',
      title: t('Detail'),
      cell: ({ detail }) => detail && <span className={classes.detail}>{t(detail)}</span>,
    },
    {
      key: 'who',
      title: t('Who'),
      cell: ({ actor }) => (actor === null ? <span className="muted">{t('The platform')}</span> : personName(t, actor)),
    },
    { key: 'when', title: t('When'), sortBy: 'at', align: 'right', width: 160, cell: ({ at }) => <DateTime at={at} /> },
  ];
  return (
    <DataTable {...props} label={t('Activities')} columns={columns} rowKey={({ id }) => id} rowTestId="activity-row" />
  );
}

function What({ activity: { kind, from, to } }: { activity: Activity }): ReactNode {
  const t = useT();
  if (kind !== 'status') return <span className={classes.kind}>{t(kind)}</span>;
  const words = [from, to].filter((status) => status !== null).map((status) => t(STATUS[status]?.word ?? status));
  return words.join(' → ');
}
