import type { AdminUser } from '@stagi/contract/adminUsers.ts';
import { useT } from '../../i18n/i18n.ts';
import { PersonCell } from '../../people/PersonCell.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './Admin.module.css';

export function useUserColumns(): Column<AdminUser>[] {
  const t = useT();
  return [
    {
      key: 'name',
      title: t('Name'),
      sortBy: 'name',
      card: 'head',
      cell: ({ name, image, isEmployee }) => (
        <PersonCell name={name} image={image} tag={isEmployee && <Tag color="primary">{t('Operator')}</Tag>} />
      ),
    },
    {
      key: 'email',
      title: t('Email'),
      sortBy: 'email',
      cell: ({ email, isVerified, state }) => (
        <span className={classes.email}>
          {email} {!isVerified && state !== 'deleted' && <Tag>{t('Not verified')}</Tag>}
        </span>
      ),
    },
    { key: 'state', title: t('Status'), cell: ({ state }) => <StatusBadge status={state} /> },
    { key: 'id', title: t('Id'), extra: true, align: 'right', cell: ({ id }) => <span className="mono">{id}</span> },
    {
      key: 'lastSeenAt',
      title: t('Last seen'),
      align: 'right',
      cell: ({ lastSeenAt }) => (lastSeenAt ? <TimeAgo at={lastSeenAt} /> : <span className="muted">—</span>),
    },
    timeColumn('createdAt', t('Signed up')),
  ];
}
