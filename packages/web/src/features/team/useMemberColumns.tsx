import type { Member } from '@stagi/contract/clients.ts';
import { useT } from '../../i18n/i18n.ts';
import { ROLE_WORDS } from '../../i18n/roleWords.ts';
import { Face } from '../../layouts/Face.tsx';
import type { Column } from '../../ui/DataTable.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { DateTime } from '../../ui/Time.tsx';
import { Tooltip } from '../../ui/Tooltip.tsx';
import classes from './Team.module.css';

export function useMemberColumns(): Column<Member>[] {
  const t = useT();
  return [
    {
      key: 'name',
      title: t('Name'),
      sortBy: 'name',
      card: 'head',
      cell: ({ name, image, isMe }) => (
        <span className={classes.person}>
          <Face name={name} image={image} size={28} />
          <span className={classes.name}>{name}</span>
          {isMe && <Tag color="primary">{t('That’s you')}</Tag>}
        </span>
      ),
    },
    {
      key: 'email',
      title: t('Email'),
      sortBy: 'email',
      cell: ({ email }) => <span className={classes.email}>{email}</span>,
    },
    {
      key: 'roleName',
      title: t('Role'),
      sortBy: 'roleName',
      cell: ({ roleName }) => (
        <Tooltip label={t(ROLE_WORDS[roleName])}>
          <span>{t(roleName)}</span>
        </Tooltip>
      ),
    },
    {
      key: 'createdAt',
      title: t('Joined'),
      sortBy: 'createdAt',
      align: 'right',
      cell: ({ createdAt }) => <DateTime at={createdAt} />,
    },
  ];
}
