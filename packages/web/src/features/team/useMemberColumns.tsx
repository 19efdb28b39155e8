import type { Member } from '@stagi/contract/clients.ts';
import { useT } from '../../i18n/i18n.ts';
import { ROLE_NAMES } from '../../i18n/roleNames.ts';
import { ROLE_WORDS } from '../../i18n/roleWords.ts';
import { PersonCell } from '../../people/PersonCell.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { Tooltip } from '../../ui/Tooltip.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
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
        <PersonCell name={name} image={image} tag={isMe && <Tag color="primary">{t('That’s you')}</Tag>} />
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
          <span>{t(ROLE_NAMES[roleName])}</span>
        </Tooltip>
      ),
    },
    timeColumn('createdAt', t('Joined')),
  ];
}
