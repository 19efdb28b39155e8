import { api } from '@stagi/contract/api.ts';
import type { Session } from '@stagi/contract/sessions.ts';
import { IconLogout } from '@tabler/icons-react';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { useRowActions } from '../../lists/useRowActions.tsx';
import { ActionButton } from '../../ui/actions.tsx';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { Note } from '../../ui/Note.tsx';
import { TimeAgo } from '../../ui/Time.tsx';
import { timeColumn } from '../../ui/table/columns.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import { toast } from '../../ui/toasts.ts';
import { AccountTabs } from './AccountTabs.tsx';
import { ConnectedApps } from './ConnectedApps.tsx';
import { SessionDevice, useDeviceName } from './SessionDevice.tsx';

/** No event reports a session that starts elsewhere. */
const REFETCH_MS = 15_000;

export function SessionsPage() {
  const t = useT();
  const state = useListState({ sort: { field: 'lastUsedAt', direction: 'desc' } });
  const list = useList(api.sessions.list, { entityFilterRequest: state.request }, state, REFETCH_MS);
  const actions = useSessionActions();
  const [endingOthers, setEndingOthers] = useState(false);
  const { rows, stale } = list.table;
  const total = list.data?.totalCount ?? 0;
  const hasOthers = total > 1 || (state.narrowed && rows?.some(({ current }) => !current) === true);

  return (
    <ListPage
      title={t('Sessions')}
      about={t('Browsers logged in to your account, with their IP addresses.')}
      headerActions={
        hasOthers && (
          <ActionButton
            tone="danger"
            icon={<IconLogout size={16} />}
            testId="end-other-sessions"
            onClick={() => setEndingOthers(true)}
          >
            {t('End all other sessions')}
          </ActionButton>
        )
      }
      above={<AccountTabs />}
      list={list}
      search={hasOthers || state.narrowed || stale ? t('Search by address or browser') : undefined}
      name="sessions"
      rowTestId="session-row"
      columns={columns()}
      rowKey={({ id }) => id}
      rowName={useDeviceName()}
      actions={actions}
      noMatches={{ title: t('No session matches'), text: t('Try other words.') }}
    >
      {total === 1 && !state.narrowed && rows?.[0]?.current && <Note>{t('You have no other sessions.')}</Note>}
      <ConnectedApps />
      <EndOthers opened={endingOthers} onClose={() => setEndingOthers(false)} />
    </ListPage>
  );

  function columns(): Column<Session>[] {
    return [
      { key: 'device', title: t('Device'), cell: (session) => <SessionDevice session={session} />, card: 'head' },
      {
        key: 'ip',
        title: t('Address'),
        sortBy: 'ip',
        cell: ({ ip }) => (ip === null ? <span className="muted">—</span> : <span className="mono">{ip}</span>),
      },
      {
        key: 'lastUsedAt',
        title: t('Last used'),
        sortBy: 'lastUsedAt',
        align: 'right',
        cell: ({ current, lastUsedAt }) => (current ? t('Now') : <TimeAgo at={lastUsedAt} />),
      },
      timeColumn('createdAt', t('Logged in')),
    ];
  }
}

function useSessionActions() {
  const t = useT();
  const nameOf = useDeviceName();
  return useRowActions<Session>(
    [
      {
        name: 'end-session',
        label: t('End session'),
        icon: IconLogout,
        danger: true,
        can: ({ current }) =>
          current
            ? { allowed: false, reason: t('This is your current session: log out to end it') }
            : { allowed: true },
        perform: ({ id }, options) => call(api.sessions.revoke, { id }, options),
        confirm: (session) => ({
          title: t('End the session on {{device}}?', { device: nameOf(session) }),
          text: t(
            'This browser is logged out within seconds and must log in again. Servers and containers keep running.',
          ),
        }),
        success: () => t('The session has been ended'),
      },
    ],
    ['auth/session/'],
  );
}

function EndOthers({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useT();
  const { run, loading } = useCall(api.sessions.revoke, {
    onDone: ({ ended }) => {
      void invalidate('auth/session/');
      toast.success(t('{{count}} sessions have been ended', { count: ended }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      variant="error"
      opened={opened}
      onClose={onClose}
      onConfirm={() => void run({ others: true })}
      title={t('End all other sessions?')}
      confirmLabel={t('End all other sessions')}
      loading={loading}
    >
      {t(
        'Every browser but this one is logged out within seconds. If one of them is not yours, change your password too.',
      )}
    </ConfirmDialog>
  );
}
