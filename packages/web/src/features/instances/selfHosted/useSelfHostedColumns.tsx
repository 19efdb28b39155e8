import type { SelfHostedInstance } from '@stagi/contract/instances.ts';
import { useT } from '../../../i18n/i18n.ts';
import { personName } from '../../../i18n/personName.ts';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import { nameColumn, timeColumn } from '../../../ui/table/columns.tsx';
import type { Column } from '../../../ui/table/tableTypes.ts';
import { machineSummary } from './machineSummary.ts';

export function useSelfHostedColumns(): Column<SelfHostedInstance>[] {
  const t = useT();
  const none = <span className="muted">—</span>;
  return [
    nameColumn(t('Name')),
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
    { key: 'hardware', title: t('Hardware'), cell: ({ facts }) => (facts ? machineSummary(facts, t) : none) },
    { key: 'ip', title: t('Connects from'), cell: ({ ip }) => (ip ? <span className="mono">{ip}</span> : none) },
    {
      key: 'containers',
      title: t('Containers'),
      align: 'right',
      cell: ({ containerCount }) => <span className="mono">{containerCount}</span>,
    },
    {
      key: 'seen',
      title: t('Last report'),
      align: 'right',
      cell: ({ daemonSeenAt }) => (daemonSeenAt ? <TimeAgo at={daemonSeenAt} /> : none),
    },
    timeColumn('createdAt', t('Attached')),
    { key: 'createdBy', title: t('Created by'), extra: true, cell: ({ createdBy }) => personName(t, createdBy) },
    {
      key: 'daemon',
      title: t('Agent version'),
      extra: true,
      cell: ({ daemonVersion }) => (daemonVersion ? <span className="mono">{daemonVersion}</span> : none),
    },
  ];
}
