import type { AdminUser } from '@stagi/contract/adminUsers.ts';
import { api } from '@stagi/contract/api.ts';
import { IconUserCheck, IconUserOff } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { text } from '../../i18n/text.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { usePanel } from '../../layouts/usePanel.ts';
import { type Action, ActionMenu, type Verdict } from '../../ui/actions.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { FilterMenu, StatusFilter } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { DisableUser } from './DisableUser.tsx';
import { EnableDialog } from './EnableDialog.tsx';
import { STAFF, USER_FILTERS, usersInput, VERIFIED } from './listInputs.ts';
import { UserPanel } from './UserPanel.tsx';
import { useUserColumns } from './useUserColumns.tsx';

const STATES: readonly AdminUser['state'][] = ['active', 'disabled', 'deleted'];

const HOLDS: Record<NonNullable<AdminUser['hold']>, string> = {
  self: text('You cannot disable your own account'),
  deleted: text('This account has been deleted'),
};

/** Everybody who has an account, for operators: find somebody, look, shut out, let in again. */
export function UsersPage() {
  const t = useT();
  const list = useListState({ filters: USER_FILTERS });
  const users = useList(api.adminUsers.list, usersInput(list), list);
  const columns = useUserColumns();
  const panel = usePanel('user');
  const [disabling, setDisabling] = useState<AdminUser | null>(null);
  const [enabling, setEnabling] = useState<AdminUser | null>(null);

  const oneOf = (name: string) => (values: string[]) => list.setFilter(name, values.at(-1) ?? '');
  const actionsOf = (user: AdminUser): Action[] => {
    const verdict: Verdict = user.hold === null ? { allowed: true } : { allowed: false, reason: HOLDS[user.hold] };
    return user.state === 'disabled'
      ? [
          {
            label: t('Enable'),
            icon: <IconUserCheck size={16} />,
            verdict,
            testId: 'action-enable',
            onClick: () => setEnabling(user),
          },
        ]
      : [
          {
            label: t('Disable'),
            icon: <IconUserOff size={16} />,
            danger: true,
            verdict,
            testId: 'action-disable',
            onClick: () => setDisabling(user),
          },
        ];
  };

  return (
    <>
      <PageHeader title={t('Users')}>{t('Everybody who has an account here.')}</PageHeader>
      <ListBar>
        <SearchBox
          width={300}
          value={list.search}
          onChange={list.setSearch}
          placeholder={t('Search by name, email or id')}
        />
        <StatusFilter statuses={STATES} value={list.statuses} onChange={list.setStatuses} />
        <FilterMenu
          label={t('Email')}
          options={[
            { value: 'yes', label: t('Verified') },
            { value: 'no', label: t('Not verified') },
          ]}
          value={[list.filter(VERIFIED)]}
          onChange={oneOf(VERIFIED)}
        />
        <FilterMenu
          label={t('Role')}
          options={[
            { value: 'yes', label: t('Operators') },
            { value: 'no', label: t('Customers') },
          ]}
          value={[list.filter(STAFF)]}
          onChange={oneOf(STAFF)}
        />
      </ListBar>
      <DataTable
        {...users.table}
        label={t('Users')}
        name="admin-users"
        rowTestId="user-row"
        columns={columns}
        rowKey={({ id }) => id}
        rowLink={({ id }, cell) => <Link to={panel.to(id)}>{cell}</Link>}
        rowActions={(user) => (
          <ActionMenu label={t('Actions for {{title}}', { title: user.name })} actions={() => actionsOf(user)} />
        )}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          <NoMatches title={t('Nobody matches')} onClear={list.clear}>
            {list.search === ''
              ? t('Try other states, addresses or roles.')
              : t('Texts of one or two letters are looked for at the beginning of words.')}
          </NoMatches>
        }
      />
      <UserPanel id={panel.id} onClose={panel.close} actionsOf={actionsOf} />
      <DisableUser user={disabling} onClose={() => setDisabling(null)} />
      <EnableDialog what="user" of={enabling} onClose={() => setEnabling(null)} />
    </>
  );
}
