import { api } from '@stagi/contract/api.ts';
import type { Member } from '@stagi/contract/clients.ts';
import { ROLES } from '@stagi/contract/permissions.ts';
import { IconPencil, IconUserCog, IconUserMinus, IconUserPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useMay, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { ActionButton, ActionMenu } from '../../ui/actions.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { FilterMenu } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { memberVerdict } from '../../ui/memberVerdict.ts';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { ChangeRole } from './ChangeRole.tsx';
import { InviteDialog } from './InviteDialog.tsx';
import { byRole, FILTERS, ROLE, rolesOf } from './listInputs.ts';
import { RemoveMember } from './RemoveMember.tsx';
import { RenameWorkspace } from './RenameWorkspace.tsx';
import { TeamTabs } from './TeamTabs.tsx';
import { useMemberColumns } from './useMemberColumns.tsx';

/** Who belongs to the workspace, and what is done about it by whoever may. */
export function TeamPage() {
  const t = useT();
  const { workspace } = useUser();
  const mayRename = useMay('CLIENT_MANAGEMENT');
  const list = useListState({ filters: FILTERS });
  const members = useList(api.clients.members, byRole(list), list);
  const columns = useMemberColumns();
  const [changing, setChanging] = useState<Member | null>(null);
  const [removing, setRemoving] = useState<Member | null>(null);
  const [renaming, setRenaming] = useState(false);
  const [inviting, setInviting] = useState(false);

  return (
    <>
      <PageHeader
        title={t('Team')}
        actions={
          <>
            {mayRename && (
              <ActionButton icon={<IconPencil size={16} />} testId="workspace-rename" onClick={() => setRenaming(true)}>
                {t('Rename workspace')}
              </ActionButton>
            )}
            <ActionButton
              tone="primary"
              icon={<IconUserPlus size={16} />}
              testId="invite-create"
              onClick={() => setInviting(true)}
            >
              {t('Invite')}
            </ActionButton>
          </>
        }
      >
        {t('Who works in {{workspace}}, and what their role lets them do.', { workspace: workspace?.clientName ?? '' })}
      </PageHeader>
      <TeamTabs />
      <ListBar>
        <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search by name or email')} />
        <FilterMenu
          label={t('Role')}
          options={ROLES.map((role) => ({ value: role, label: t(role) }))}
          value={rolesOf(list)}
          onChange={(wanted) => list.setValues(ROLE, wanted)}
        />
      </ListBar>
      <DataTable
        {...members.table}
        label={t('Members')}
        name="members"
        rowTestId="member-row"
        columns={columns}
        rowKey={({ userId }) => userId}
        sort={list.sort}
        onSort={list.setSort}
        rowActions={(member) => (
          <ActionMenu
            label={t('Actions for {{title}}', { title: member.name })}
            actions={[
              {
                label: t('Change role'),
                icon: <IconUserCog size={16} />,
                verdict: memberVerdict(member),
                testId: 'action-change-role',
                onClick: () => setChanging(member),
              },
              {
                label: member.isMe ? t('Leave the workspace') : t('Remove from the workspace'),
                icon: <IconUserMinus size={16} />,
                danger: true,
                verdict: memberVerdict(member),
                testId: 'action-remove-member',
                onClick: () => setRemoving(member),
              },
            ]}
          />
        )}
        empty={
          <NoMatches title={t('Nobody matches')} onClear={list.clear}>
            {t('Try other words or roles.')}
          </NoMatches>
        }
      />
      <ChangeRole member={changing} onClose={() => setChanging(null)} />
      <RemoveMember member={removing} onClose={() => setRemoving(null)} />
      <InviteDialog opened={inviting} onClose={() => setInviting(false)} />
      <RenameWorkspace opened={renaming} onClose={() => setRenaming(false)} />
    </>
  );
}
