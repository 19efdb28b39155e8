import { api } from '@stagi/contract/api.ts';
import { INVITE_STATUSES, type Invite } from '@stagi/contract/invites.ts';
import { ROLES } from '@stagi/contract/permissions.ts';
import { IconLink, IconLinkOff, IconUserPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { text } from '../../i18n/text.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { ActionButton, ActionMenu, type Verdict } from '../../ui/actions.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { FilterMenu, StatusFilter } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { InviteDialog } from './InviteDialog.tsx';
import { byRole, FILTERS, ROLE, rolesOf } from './listInputs.ts';
import { RevokeInvite } from './RevokeInvite.tsx';
import { SeatsNote } from './SeatsNote.tsx';
import classes from './Team.module.css';
import { TeamTabs } from './TeamTabs.tsx';
import { useInviteColumns } from './useInviteColumns.tsx';

const HOLDS: Record<NonNullable<Invite['hold']>, string> = {
  'more-power': text('Its role may do what yours may not'),
  ended: text('It has ended already'),
};

/** The join links of the workspace: what became of each, and a new one. */
export function InvitesPage() {
  const t = useT();
  const { workspace } = useUser();
  const list = useListState({ filters: FILTERS });
  const { data, table } = useList(api.invites.list, byRole(list), list);
  const columns = useInviteColumns();
  const [inviting, setInviting] = useState(false);
  const [revoking, setRevoking] = useState<Invite | null>(null);
  const some = list.narrowed || (table.rows?.length ?? 0) > 0;

  const verdictOf = ({ hold }: Invite): Verdict =>
    hold === null ? { allowed: true } : { allowed: false, reason: HOLDS[hold] };
  const invite = (
    <ActionButton
      tone="primary"
      icon={<IconUserPlus size={16} />}
      testId="invite-create"
      onClick={() => setInviting(true)}
    >
      {t('Invite')}
    </ActionButton>
  );

  return (
    <>
      <PageHeader title={t('Invites')} actions={some && invite}>
        {t('Links by which people join {{workspace}} with a role. Each is shown only once, when it is made.', {
          workspace: workspace?.clientName ?? '',
        })}
      </PageHeader>
      <TeamTabs />
      {data && (
        <div className={classes.listed}>
          <SeatsNote seats={data.seats} />
        </div>
      )}
      {some && (
        <ListBar>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search by who invited')} />
          <StatusFilter statuses={INVITE_STATUSES} value={list.statuses} onChange={list.setStatuses} />
          <FilterMenu
            label={t('Role')}
            options={ROLES.map((role) => ({ value: role, label: t(role) }))}
            value={rolesOf(list)}
            onChange={(wanted) => list.setValues(ROLE, wanted)}
          />
        </ListBar>
      )}
      <DataTable
        {...table}
        label={t('Invites')}
        name="invites"
        rowTestId="invite-row"
        columns={columns}
        rowKey={({ id }) => id}
        sort={list.sort}
        onSort={list.setSort}
        rowActions={(row) => (
          <ActionMenu
            label={t('Actions for the link of {{name}}', { name: row.inviter.name })}
            actions={[
              {
                label: t('Revoke'),
                icon: <IconLinkOff size={16} />,
                danger: true,
                verdict: verdictOf(row),
                testId: 'action-revoke-invite',
                onClick: () => setRevoking(row),
              },
            ]}
          />
        )}
        empty={
          list.narrowed ? (
            <NoMatches title={t('No join link matches')} onClear={list.clear}>
              {t('Try other words, states or roles.')}
            </NoMatches>
          ) : (
            <EmptyState icon={<IconLink size={20} />} title={t('Nobody has been invited yet')} action={invite}>
              {t('Make a link with a role and send it to whoever should work here with you.')}
            </EmptyState>
          )
        }
      />
      <InviteDialog opened={inviting} onClose={() => setInviting(false)} />
      <RevokeInvite invite={revoking} onClose={() => setRevoking(null)} />
    </>
  );
}
