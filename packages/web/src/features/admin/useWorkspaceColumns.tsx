import type { AdminClient } from '@stagi/contract/adminClients.ts';
import { useT } from '../../i18n/i18n.ts';
import { CutText } from '../../ui/CutText.tsx';
import { Money } from '../../ui/Money.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './Admin.module.css';
import { PlanName } from './PlanName.tsx';

export function useWorkspaceColumns(): Column<AdminClient>[] {
  const t = useT();
  return [
    {
      key: 'name',
      title: t('Name'),
      sortBy: 'name',
      card: 'head',
      cell: ({ name }) => <CutText className={classes.name}>{name}</CutText>,
    },
    {
      key: 'owner',
      title: t('Owner'),
      cell: ({ owner }) =>
        owner ? (
          <span className={classes.row}>
            <CutText>{owner.name}</CutText>
            <span className={classes.small}>{owner.email}</span>
          </span>
        ) : (
          <span className="muted">—</span>
        ),
    },
    { key: 'state', title: t('Status'), cell: ({ state }) => <StatusBadge status={state} /> },
    { key: 'plan', title: t('Plan'), cell: (workspace) => <PlanName workspace={workspace} /> },
    { key: 'id', title: t('Id'), extra: true, align: 'right', cell: ({ id }) => <span className="mono">{id}</span> },
    {
      key: 'members',
      title: t('Members'),
      align: 'right',
      cell: ({ members }) => <span className="mono">{members}</span>,
    },
    {
      key: 'running',
      title: t('Running'),
      align: 'right',
      cell: ({ running }) => <span className="mono">{running}</span>,
    },
    { key: 'balance', title: t('Balance'), align: 'right', cell: ({ balance }) => <Money price={balance} stacked /> },
    timeColumn('createdAt', t('Created')),
  ];
}
