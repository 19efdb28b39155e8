import type { Instance } from '@stagi/contract/instances.ts';
import { useT } from '../../../i18n/i18n.ts';
import { CopyButton } from '../../../ui/CopyButton.tsx';
import { formatNumber } from '../../../ui/format.ts';
import { Money } from '../../../ui/Money.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import { Deadline } from '../../../ui/Time.tsx';
import { nameColumn, timeColumn } from '../../../ui/table/columns.tsx';
import type { Column } from '../../../ui/table/tableTypes.ts';
import classes from '../Instances.module.css';
import { rentedBy } from './rentedBy.ts';

export function useRentedColumns(): Column<Instance>[] {
  const t = useT();
  return [
    nameColumn(t('Name')),
    {
      key: 'status',
      title: t('Status'),
      sortBy: 'status',
      cell: (instance) => (
        <span className={classes.status} data-testid="instance-status">
          <StatusBadge status={instance.status} />
          {instance.statusDeadline && (
            <span className={classes.deadline}>
              <Deadline since={instance.statusSince} deadline={null} />
            </span>
          )}
        </span>
      ),
    },
    {
      key: 'provider',
      title: t('Provider'),
      sortBy: 'provider',
      cell: ({ providerTitle, region }) => (
        <span className={classes.two}>
          <span>{t(providerTitle)}</span>
          <span className={classes.second}>{region}</span>
        </span>
      ),
    },
    { key: 'hardware', title: t('Hardware'), cell: (instance) => <Hardware of={instance} /> },
    {
      key: 'ip',
      title: t('IP'),
      sortBy: 'ip',
      cell: ({ ip }) =>
        ip ? (
          <span className={classes.ip}>
            <span className="mono">{ip}</span>
            <CopyButton value={ip} label={t('Copy the address')} />
          </span>
        ) : (
          <span className="muted">—</span>
        ),
    },
    {
      key: 'containers',
      title: t('Containers'),
      align: 'right',
      cell: ({ containerCount }) => <span className="mono">{containerCount}</span>,
    },
    {
      key: 'price',
      title: t('Price per hour'),
      sortBy: 'pricePerHour',
      align: 'right',
      cell: ({ pricePerHour }) => <Money price={pricePerHour} per="hour" stacked />,
    },
    timeColumn('createdAt', t('Rented', { context: 'when' })),
    { key: 'createdBy', title: t('Rented by'), extra: true, cell: (instance) => rentedBy(t, instance) },
    {
      key: 'daemon',
      title: t('Agent version'),
      extra: true,
      cell: ({ daemonVersion }) => <span className="mono">{daemonVersion ?? '—'}</span>,
    },
  ];
}

function Hardware({ of: { gpu, cpu, ramGb } }: { of: Instance }) {
  const t = useT();
  const rest = `${t('{{count}} cores', { count: cpu.cores })} · ${formatNumber(ramGb)} GB`;
  if (!gpu || gpu.count === 0) return rest;
  return (
    <span className={classes.two}>
      <span>{`${gpu.count} × ${gpu.name}`}</span>
      <span className={classes.second}>{rest}</span>
    </span>
  );
}
