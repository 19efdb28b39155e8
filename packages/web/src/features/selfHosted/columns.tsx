import type { SelfHostedInstance } from '@stagi/contract/instances.ts';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import type { Column } from '../../ui/DataTable.tsx';
import { NameCell } from '../../ui/NameCell.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { DateTime, TimeAgo } from '../../ui/Time.tsx';
import { machineLine } from './machineLine.ts';

export function useServerColumns(): Column<SelfHostedInstance>[] {
  const t = useT();
  const none = <span className="muted">—</span>;
  return [
    {
      key: 'title',
      title: t('Name'),
      sortBy: 'title',
      cell: ({ title, slug }) => <NameCell title={title} slug={slug} />,
    },
    {
      key: 'status',
      title: t('Status'),
      sortBy: 'status',
      cell: ({ status }) => (
        <span data-testid="instance-status">
          <StatusBadge status={status} />
        </span>
      ),
    },
    { key: 'hardware', title: t('Hardware'), cell: ({ facts }) => (facts ? machineLine(facts, t) : none) },
    { key: 'ip', title: t('Dials from'), cell: ({ ip }) => (ip ? <span className="mono">{ip}</span> : none) },
    {
      key: 'containers',
      title: t('Containers'),
      align: 'right',
      cell: ({ containerCount }) => <span className="mono">{containerCount}</span>,
    },
    {
      key: 'seen',
      title: t('Last heard'),
      align: 'right',
      cell: ({ daemonSeenAt }) => (daemonSeenAt ? <TimeAgo at={daemonSeenAt} /> : none),
    },
    {
      key: 'createdAt',
      title: t('Attached'),
      sortBy: 'createdAt',
      align: 'right',
      cell: ({ createdAt }) => <DateTime at={createdAt} />,
    },
    { key: 'createdBy', title: t('Created by'), extra: true, cell: ({ createdBy }) => personName(t, createdBy) },
    {
      key: 'daemon',
      title: t('Daemon version'),
      extra: true,
      cell: ({ daemonVersion }) => (daemonVersion ? <span className="mono">{daemonVersion}</span> : none),
    },
  ];
}
