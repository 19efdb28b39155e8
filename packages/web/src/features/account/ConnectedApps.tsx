import { api } from '@stagi/contract/api.ts';
import type { Consent } from '@stagi/contract/apps.ts';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../../api/messages.ts';
import { invalidate, q } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ActionMenu } from '../../ui/actions.tsx';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { DateTime, TimeAgo } from '../../ui/Time.tsx';
import { toast } from '../../ui/toasts.ts';
import classes from './ConnectedApps.module.css';

/** No event tells of an app that is let in elsewhere. */
const READ_AGAIN_MS = 15_000;
/** More than anybody has; newest first. */
const MOST = 100;

/** The apps that somebody has let into their account, each to be shut out. */
export function ConnectedApps() {
  const t = useT();
  const { data, error, refetch, isFetching } = useQuery({
    ...q(api.apps.consents, { entityFilterRequest: { limit: MOST } }, { quiet: true }),
    refetchInterval: READ_AGAIN_MS,
  });
  const [ending, setEnding] = useState<Consent | null>(null);
  return (
    <section className={classes.apps} aria-labelledby="connected-apps">
      <h2 id="connected-apps">{t('Connected apps')}</h2>
      <p className={classes.lead}>
        {t('Apps that may work for you. They never see your password, and do no more than you may.')}
      </p>
      <DataTable
        label={t('Connected apps')}
        rowTestId="consent-row"
        rows={data?.entities}
        error={error && errorText(error)}
        onRetry={() => void refetch()}
        retrying={isFetching}
        columns={columns()}
        rowKey={({ id }) => id}
        empty={<p className={classes.none}>{t('No app is connected.')}</p>}
        rowActions={(consent) => (
          <ActionMenu
            label={t('Actions for {{title}}', { title: consent.app.name })}
            actions={[
              {
                label: t('Disconnect'),
                icon: <IconPlugConnectedX size={16} />,
                danger: true,
                verdict: { allowed: true },
                testId: 'action-disconnect-app',
                onClick: () => setEnding(consent),
              },
            ]}
          />
        )}
      />
      <Disconnect consent={ending} onClose={() => setEnding(null)} />
    </section>
  );

  function columns(): Column<Consent>[] {
    return [
      {
        key: 'app',
        title: t('App'),
        cell: ({ app }) => <strong className={classes.name}>{app.name}</strong>,
        card: 'head',
      },
      {
        key: 'workspace',
        title: t('Workspace'),
        cell: ({ workspace }) => workspace?.clientName ?? <span className="muted">{t('All of yours')}</span>,
      },
      {
        key: 'ip',
        title: t('Address'),
        cell: ({ ip }) => (ip === null ? <span className="muted">—</span> : <span className="mono">{ip}</span>),
      },
      {
        key: 'lastUsedAt',
        title: t('Last used'),
        align: 'right',
        cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} />,
      },
      {
        key: 'createdAt',
        title: t('Connected'),
        align: 'right',
        cell: ({ createdAt }) => <DateTime at={createdAt} />,
      },
    ];
  }
}

function Disconnect({ consent, onClose }: { consent: Consent | null; onClose(): void }) {
  const t = useT();
  const { run, loading } = useCall(api.apps.revokeConsent, {
    onDone: () => {
      void invalidate('authorization/consent/');
      toast.success(t('The app has been disconnected'));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      variant="error"
      opened={consent !== null}
      onClose={onClose}
      onConfirm={() => consent && void run({ id: consent.id })}
      title={t('Disconnect {{app}}?', { app: consent?.app.name ?? '' })}
      confirmLabel={t('Disconnect')}
      loading={loading}
    >
      {t('It loses its access within seconds and has to ask you again. What it has started goes on running.')}
    </ConfirmDialog>
  );
}
