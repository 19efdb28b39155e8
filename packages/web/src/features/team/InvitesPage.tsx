import { api } from '@stagi/contract/api.ts';
import { INVITE_STATUSES, type Invite } from '@stagi/contract/invites.ts';
import { text } from '@stagi/contract/text.ts';
import { IconLink, IconLinkOff, IconUserPlus } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import { call } from '../../api/client.ts';
import { useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { useRowActions } from '../../lists/useRowActions.tsx';
import { ActionButton } from '../../ui/actions.tsx';
import { StatusFilter } from '../../ui/table/StatusFilter.tsx';
import { FILTERS, roleListInput } from './listInputs.ts';
import { RoleFilter } from './RoleFilter.tsx';
import { SeatsNote } from './SeatsNote.tsx';
import classes from './Team.module.css';
import { TeamTabs } from './TeamTabs.tsx';
import { useInviteColumns } from './useInviteColumns.tsx';

const InviteDialog = lazyComponent(async () => (await import('./InviteDialog.tsx')).InviteDialog);

const HOLD_REASONS: Record<NonNullable<Invite['hold']>, string> = {
  'more-power': text('Its role has permissions that yours does not'),
  ended: text('It has already ended'),
};

/** The join links of the workspace: what became of each, and a new one. */
export function InvitesPage() {
  const t = useT();
  const { workspace } = useUser();
  const state = useListState({ filters: FILTERS });
  const list = useList(api.invites.list, roleListInput(state), state);
  const columns = useInviteColumns();
  const actions = useInviteActions();
  const [inviting, setInviting] = useState(false);

  return (
    <ListPage
      title={t('Invites')}
      about={t('Links to join {{workspace}} with a role. Each is shown only once, when it is created.', {
        workspace: workspace?.clientName ?? '',
      })}
      create={
        <ActionButton
          tone="primary"
          icon={<IconUserPlus size={16} />}
          testId="invite-create"
          onClick={() => setInviting(true)}
        >
          {t('Invite')}
        </ActionButton>
      }
      above={
        <>
          <TeamTabs />
          {list.data && (
            <div className={classes.listed}>
              <SeatsNote seats={list.data.seats} />
            </div>
          )}
        </>
      }
      list={list}
      search={t('Search by inviter')}
      filters={
        <>
          <StatusFilter statuses={INVITE_STATUSES} value={state.statuses} onChange={state.setStatuses} />
          <RoleFilter state={state} />
        </>
      }
      name="invites"
      rowTestId="invite-row"
      columns={columns}
      rowKey={({ id }) => id}
      actions={actions}
      menuLabel={({ inviter: { name } }) => t('Actions for the link of {{name}}', { name })}
      noMatches={{ title: t('No join link matches'), text: t('Try other words, states or roles.') }}
      empty={{
        icon: <IconLink size={20} />,
        title: t('Nobody has been invited yet'),
        text: t('Create a link with a role and send it to the people you work with.'),
      }}
    >
      {inviting && (
        <Suspense>
          <InviteDialog opened onClose={() => setInviting(false)} />
        </Suspense>
      )}
    </ListPage>
  );
}

function useInviteActions() {
  const t = useT();
  return useRowActions<Invite>(
    [
      {
        name: 'revoke-invite',
        label: t('Revoke'),
        icon: IconLinkOff,
        danger: true,
        can: ({ hold }) => (hold === null ? { allowed: true } : { allowed: false, reason: HOLD_REASONS[hold] }),
        perform: ({ id }, options) => call(api.invites.revoke, { id }, options),
        confirm: () => ({
          title: t('Revoke the join link?'),
          text: t('Nobody can join with it any more. People who joined stay members.'),
        }),
        success: () => t('The join link has been revoked'),
      },
    ],
    ['client/invite/'],
  );
}
