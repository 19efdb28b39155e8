import { api } from '@stagi/contract/api.ts';
import type { Session } from '@stagi/contract/sessions.ts';
import { IconLogout } from '@tabler/icons-react';
import { useState } from 'react';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { ActionButton, ActionMenu } from '../../ui/actions.tsx';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { Note } from '../../ui/Note.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { DateTime, TimeAgo } from '../../ui/Time.tsx';
import { toast } from '../../ui/toasts.ts';
import { AccountTabs } from './AccountTabs.tsx';
import { ConnectedApps } from './ConnectedApps.tsx';
import { SessionDevice, useDeviceName } from './SessionDevice.tsx';

/** No event tells of a session that begins elsewhere. */
const READ_AGAIN_MS = 15_000;

export function SessionsPage() {
  const t = useT();
  const nameOf = useDeviceName();
  const list = useListState({ sort: { field: 'lastUsedAt', direction: 'desc' } });
  const sessions = useList(api.sessions.list, { entityFilterRequest: list.request }, list, READ_AGAIN_MS);
  const [ending, setEnding] = useState<Session | null>(null);
  const [endingOthers, setEndingOthers] = useState(false);
  const total = sessions.data?.totalCount ?? 0;
  const hasOthers = total > 1 || (list.narrowed && sessions.table.rows?.some(({ current }) => !current) === true);

  return (
    <>
      <PageHeader
        title={t('Sessions')}
        actions={
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
      >
        {t('Every browser that is logged in to your account. We see its address, not where in the world it is.')}
      </PageHeader>
      <AccountTabs />
      {(hasOthers || list.narrowed || sessions.table.stale) && (
        <ListBar>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Search by address or browser')} />
        </ListBar>
      )}
      <DataTable
        {...sessions.table}
        label={t('Sessions')}
        name="sessions"
        rowTestId="session-row"
        columns={columns()}
        rowKey={({ id }) => id}
        sort={list.sort}
        onSort={list.setSort}
        rowActions={(session) => (
          <ActionMenu
            label={t('Actions for {{title}}', { title: nameOf(session) })}
            actions={[
              {
                label: t('End session'),
                icon: <IconLogout size={16} />,
                danger: true,
                verdict: session.current
                  ? { allowed: false, reason: t('You are in this session: log out to end it') }
                  : { allowed: true },
                testId: 'action-end-session',
                onClick: () => setEnding(session),
              },
            ]}
          />
        )}
        empty={
          <NoMatches title={t('No session matches')} onClear={list.clear}>
            {t('Try other words.')}
          </NoMatches>
        }
      />
      {total === 1 && !list.narrowed && sessions.table.rows?.[0]?.current && (
        <Note>{t('You are logged in nowhere else.')}</Note>
      )}
      <ConnectedApps />
      <EndSession session={ending} onClose={() => setEnding(null)} />
      <EndOthers opened={endingOthers} onClose={() => setEndingOthers(false)} />
    </>
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
      {
        key: 'createdAt',
        title: t('Logged in'),
        sortBy: 'createdAt',
        align: 'right',
        cell: ({ createdAt }) => <DateTime at={createdAt} />,
      },
    ];
  }
}

function EndSession({ session, onClose }: { session: Session | null; onClose(): void }) {
  const t = useT();
  const nameOf = useDeviceName();
  const { run, loading } = useCall(api.sessions.revoke, {
    onDone: () => {
      void invalidate('auth/session/');
      toast.success(t('The session has been ended'));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      variant="error"
      opened={session !== null}
      onClose={onClose}
      onConfirm={() => session && void run({ id: session.id })}
      title={t('End the session on {{device}}?', { device: session ? nameOf(session) : '' })}
      confirmLabel={t('End session')}
      loading={loading}
    >
      {t('Whoever uses it is logged out within seconds and has to log in again. Servers and containers go on running.')}
    </ConfirmDialog>
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
