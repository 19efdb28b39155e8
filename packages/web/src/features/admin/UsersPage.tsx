import type { AdminUser } from '@stagi/contract/adminUsers.ts';
import { api } from '@stagi/contract/api.ts';
import { text } from '@stagi/contract/text.ts';
import type { Verdict } from '@stagi/contract/verdict.ts';
import { IconTrash, IconUserCheck, IconUserOff } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { call } from '../../api/client.ts';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { usePanel } from '../../lists/usePanel.ts';
import { useRowActions } from '../../lists/useRowActions.tsx';
import { FilterMenu } from '../../ui/table/FilterMenu.tsx';
import { StatusFilter } from '../../ui/table/StatusFilter.tsx';
import { DeleteUser } from './DeleteUser.tsx';
import { DisableUser } from './DisableUser.tsx';
import { STAFF_FILTER, USER_FILTERS, usersInput, VERIFIED_FILTER } from './listInputs.ts';
import { UserPanel } from './UserPanel.tsx';
import { useUserColumns } from './useUserColumns.tsx';

const STATES: readonly AdminUser['state'][] = ['active', 'disabled', 'deleted'];

const HOLD_REASONS: Record<NonNullable<AdminUser['hold']>, string> = {
  self: text('You cannot disable your own account'),
  deleted: text('This account has been deleted'),
};

const DELETE_HOLD_REASONS: typeof HOLD_REASONS = {
  ...HOLD_REASONS,
  self: text('You cannot delete your own account here: use your profile'),
};
const OPERATOR = text('An operator’s account cannot be deleted: take the operator’s right first');

/** All accounts, for operators: search, view, disable, enable, delete. */
export function UsersPage() {
  const t = useT();
  const state = useListState({ filters: USER_FILTERS });
  const list = useList(api.adminUsers.list, usersInput(state), state);
  const columns = useUserColumns();
  const panel = usePanel('user');
  const [disabling, setDisabling] = useState<AdminUser | null>(null);
  const [deleting, setDeleting] = useState<AdminUser | null>(null);
  const actions = useUserActions({ disable: setDisabling, remove: setDeleting });

  const oneOf = (name: string) => (values: string[]) => state.setFilter(name, values.at(-1) ?? '');
  return (
    <ListPage
      title={t('Users')}
      about={t('Everyone with an account.')}
      list={list}
      search={t('Search by name, email or id')}
      searchWidth={300}
      filters={
        <>
          <StatusFilter statuses={STATES} value={state.statuses} onChange={state.setStatuses} />
          <FilterMenu
            label={t('Email')}
            options={[
              { value: 'yes', label: t('Verified') },
              { value: 'no', label: t('Not verified') },
            ]}
            value={[state.filter(VERIFIED_FILTER)]}
            onChange={oneOf(VERIFIED_FILTER)}
          />
          <FilterMenu
            label={t('Role')}
            options={[
              { value: 'yes', label: t('Operators') },
              { value: 'no', label: t('Customers') },
            ]}
            value={[state.filter(STAFF_FILTER)]}
            onChange={oneOf(STAFF_FILTER)}
          />
        </>
      }
      name="admin-users"
      rowTestId="user-row"
      columns={columns}
      rowKey={({ id }) => id}
      rowName={({ name }) => name}
      rowLink={({ id }, cell) => <Link to={panel.to(id)}>{cell}</Link>}
      actions={actions}
      noMatches={{
        title: t('No user matches'),
        text:
          state.search === ''
            ? t('Try other states, addresses or roles.')
            : t('One or two letters match only the beginning of words.'),
      }}
    >
      <UserPanel id={panel.id} onClose={panel.close} actionsOf={actions.of} />
      <DeleteUser user={deleting} onClose={() => setDeleting(null)} />
      <DisableUser user={disabling} onClose={() => setDisabling(null)} />
    </ListPage>
  );
}

type Open = (user: AdminUser) => void;

function useUserActions({ disable, remove }: Record<'disable' | 'remove', Open>) {
  const t = useT();
  const can = ({ hold }: AdminUser): Verdict =>
    hold === null ? { allowed: true } : { allowed: false, reason: HOLD_REASONS[hold] };
  return useRowActions<AdminUser>(
    [
      {
        name: 'enable',
        label: t('Enable'),
        icon: IconUserCheck,
        shown: ({ state }) => state === 'disabled',
        can,
        perform: ({ id }, options) => call(api.adminUsers.enable, { id }, options),
        confirm: ({ name }) => ({
          title: t('Enable {{name}}?', { name }),
          text: t('They can log in again with their workspaces, API tokens and SSH keys. They are notified by email.'),
        }),
        success: ({ name }) => t('{{name}} has been enabled', { name }),
      },
      {
        name: 'disable',
        label: t('Disable'),
        icon: IconUserOff,
        danger: true,
        shown: ({ state }) => state !== 'disabled',
        can,
        open: disable,
      },
      {
        name: 'delete',
        label: t('Delete account'),
        icon: IconTrash,
        danger: true,
        can: ({ hold, isEmployee }) => {
          if (hold !== null) return { allowed: false, reason: DELETE_HOLD_REASONS[hold] };
          return isEmployee ? { allowed: false, reason: OPERATOR } : { allowed: true };
        },
        open: remove,
      },
    ],
    ['admin/'],
  );
}
