import { api } from '@stagi/contract/api.ts';
import type { Member } from '@stagi/contract/clients.ts';
import { IconPencil, IconUserCog, IconUserMinus, IconUserPlus } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import { useHasPermission, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { memberVerdict } from '../../people/memberVerdict.ts';
import { type Action, ActionButton } from '../../ui/actions.tsx';
import { ChangeRole } from './ChangeRole.tsx';
import { FILTERS, roleListInput } from './listInputs.ts';
import { RemoveMember } from './RemoveMember.tsx';
import { RenameWorkspace } from './RenameWorkspace.tsx';
import { RoleFilter } from './RoleFilter.tsx';
import { TeamTabs } from './TeamTabs.tsx';
import { useMemberColumns } from './useMemberColumns.tsx';

const InviteDialog = lazyComponent(async () => (await import('./InviteDialog.tsx')).InviteDialog);

/** Who belongs to the workspace, and what is done about it by whoever may. */
export function TeamPage() {
  const t = useT();
  const { workspace } = useUser();
  const mayRename = useHasPermission('CLIENT_MANAGEMENT');
  const state = useListState({ filters: FILTERS });
  const list = useList(api.clients.members, roleListInput(state), state);
  const columns = useMemberColumns();
  const [changing, setChanging] = useState<Member | null>(null);
  const [removing, setRemoving] = useState<Member | null>(null);
  const [renaming, setRenaming] = useState(false);
  const [inviting, setInviting] = useState(false);

  const actionsOf = (member: Member): Action[] => [
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
  ];

  return (
    <ListPage
      title={t('Team')}
      about={t('The members of {{workspace}} and their roles.', {
        workspace: workspace?.clientName ?? '',
      })}
      headerActions={
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
      above={<TeamTabs />}
      list={list}
      search={t('Search by name or email')}
      filters={<RoleFilter state={state} />}
      label={t('Members')}
      name="members"
      rowTestId="member-row"
      columns={columns}
      rowKey={({ userId }) => userId}
      rowName={({ name }) => name}
      actions={{ of: actionsOf }}
      noMatches={{ title: t('No user matches'), text: t('Try other words or roles.') }}
    >
      <ChangeRole member={changing} onClose={() => setChanging(null)} />
      <RemoveMember member={removing} onClose={() => setRemoving(null)} />
      {inviting && (
        <Suspense>
          <InviteDialog opened onClose={() => setInviting(false)} />
        </Suspense>
      )}
      <RenameWorkspace opened={renaming} onClose={() => setRenaming(false)} />
    </ListPage>
  );
}
