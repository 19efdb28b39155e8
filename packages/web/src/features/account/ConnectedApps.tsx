import { api } from '@stagi/contract/api.ts';
import type { Consent } from '@stagi/contract/apps.ts';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { useRowActions } from '../../lists/useRowActions.tsx';
import { ActionMenu } from '../../ui/actions.tsx';
import { GrantedPermissions } from '../../ui/GrantedPermissions.tsx';
import { DateTime, TimeAgo } from '../../ui/Time.tsx';
import { DataTable } from '../../ui/table/DataTable.tsx';
import type { Column } from '../../ui/table/tableTypes.ts';
import classes from './ConnectedApps.module.css';

/** No event reports an app that is authorized elsewhere. */
const REFETCH_MS = 15_000;
/** More than anybody has. */
const MOST = 100;

/** The apps that may act for this account, each with a button that revokes it. */
export function ConnectedApps() {
  const t = useT();
  const { data, error, refetch, isFetching } = useQuery({
    ...q(api.apps.consents, { entityFilterRequest: { limit: MOST } }, { quiet: true }),
    refetchInterval: REFETCH_MS,
  });
  const actions = useConsentActions();
  return (
    <section className={classes.apps} aria-labelledby="connected-apps">
      <h2 id="connected-apps">{t('Connected apps')}</h2>
      <p className={classes.lead}>
        {t('Apps with access to your account. They never see your password and cannot do more than you can.')}
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
            actions={() => actions.of(consent)}
          />
        )}
      />
      {actions.dialog}
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
        cell: ({ workspace }) => workspace?.clientName ?? <span className="muted">{t('All your workspaces')}</span>,
      },
      {
        key: 'permissions',
        title: t('Permissions'),
        cell: ({ permissions }) => <GrantedPermissions permissions={permissions} />,
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

function useConsentActions() {
  const t = useT();
  return useRowActions<Consent>(
    [
      {
        name: 'disconnect-app',
        label: t('Disconnect'),
        icon: IconPlugConnectedX,
        danger: true,
        perform: ({ id }, options) => call(api.apps.revokeConsent, { id }, options),
        confirm: ({ app }) => ({
          title: t('Disconnect {{app}}?', { app: app.name }),
          text: t('It loses access within seconds and must ask you again. What it started keeps running.'),
        }),
        success: () => t('The app has been disconnected'),
      },
    ],
    ['authorization/consent/'],
  );
}
