import { api } from '@stagi/contract/api.ts';
import type { ConnectedIdentity } from '@stagi/contract/identities.ts';
import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../../api/messages.ts';
import { redirectToProvider } from '../../api/pendingProviderLogin.ts';
import { invalidate, q } from '../../api/query.ts';
import { offeredProviders, providerTitle, site } from '../../api/site.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { ProviderIcon } from '../../ui/ProviderIcon.tsx';
import { DateTime } from '../../ui/Time.tsx';
import { toast } from '../../ui/toasts.ts';
import accountClasses from './AccountPage.module.css';
import classes from './ConnectedAccountsSection.module.css';

/** Accounts at identity providers that can sign in to this account. Hidden when none is configured. */
export function ConnectedAccountsSection() {
  const t = useT();
  const offered = offeredProviders(site());
  const [disconnecting, setDisconnecting] = useState<IdentityProvider | null>(null);
  const { data, error, isFetching, refetch } = useQuery({
    ...q(api.identities.list, {}),
    enabled: offered.length > 0,
  });
  if (offered.length === 0) return null;
  // A connection of a provider that is no longer offered can be ended.
  const former = data?.identities.map(({ provider }) => provider).filter((provider) => !offered.includes(provider));

  return (
    <section className={accountClasses.section}>
      <h2>{t('Connected accounts')}</h2>
      {error && !data ? (
        <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />
      ) : (
        <div className={classes.rows} aria-busy={!data}>
          {[...offered, ...(former ?? [])].map((provider) => (
            <Row
              key={provider}
              provider={provider}
              identity={data && (data.identities.find((identity) => identity.provider === provider) ?? null)}
              isOffered={offered.includes(provider)}
              onDisconnect={() => setDisconnecting(provider)}
            />
          ))}
          <p className={accountClasses.hint}>{t('You can log in with each account that is connected.')}</p>
        </div>
      )}
      <Disconnect provider={disconnecting} onClose={() => setDisconnecting(null)} />
    </section>
  );
}

interface RowProps {
  provider: IdentityProvider;
  /** Null: not connected; undefined: not known yet. */
  identity: ConnectedIdentity | null | undefined;
  isOffered: boolean;
  onDisconnect(): void;
}

function Row({ provider, identity, isOffered, onDisconnect }: RowProps) {
  const t = useT();
  const name = providerTitle(provider);
  const [leaving, setLeaving] = useState(false);
  const begin = useCall(api.identities.begin, {
    onDone: ({ link, state, nonce }) => redirectToProvider(link, { provider, state, nonce, purpose: 'connect' }),
  });

  async function connect(): Promise<void> {
    setLeaving(true);
    if (!(await begin.run({ provider }))) setLeaving(false);
  }

  return (
    <div className={classes.row} data-testid={`connected-${provider}`}>
      <span className={classes.icon} aria-hidden="true">
        <ProviderIcon provider={provider} size={20} />
      </span>
      <div className={classes.who}>
        <div className={classes.name}>{name}</div>
        <div className={accountClasses.hint}>{words()}</div>
      </div>
      {identity === null && (
        <Button
          color="gray"
          loading={leaving}
          aria-label={t('Connect {{provider}}', { provider: name })}
          onClick={() => void connect()}
        >
          {t('Connect')}
        </Button>
      )}
      {identity && (
        <Button
          color="gray"
          aria-label={t('Disconnect {{provider}}', { provider: name })}
          reason={identity.isOnlyWayIn ? onlyWayInReason() : null}
          onClick={onDisconnect}
        >
          {t('Disconnect')}
        </Button>
      )}
    </div>
  );

  function onlyWayInReason(): string {
    return site().isPasswordOff
      ? t('This is your only way to log in. Connect another one or add a passkey first.')
      : t('This is your only way to log in. Add a password first.');
  }

  function words() {
    if (identity === undefined) return t('Loading');
    if (identity === null) return t('Not connected');
    if (!isOffered) return t('This platform no longer offers this login.');
    return (
      <>
        {identity.email && <div>{identity.email}</div>}
        {t('since')} <DateTime at={identity.connectedAt} />
      </>
    );
  }
}

function Disconnect({ provider, onClose }: { provider: IdentityProvider | null; onClose(): void }) {
  const t = useT();
  // The dialog keeps its text while it fades out.
  const [shown, setShown] = useState(provider);
  if (provider !== null && provider !== shown) setShown(provider);
  const name = shown ? providerTitle(shown) : '';
  const { run, loading } = useCall(api.identities.disconnect, {
    onDone: () => {
      void invalidate(api.identities.list.path);
      toast.success(t('{{provider}} is disconnected', { provider: name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      opened={provider !== null}
      onClose={onClose}
      onConfirm={() => provider && void run({ provider })}
      title={t('Disconnect {{provider}}?', { provider: name })}
      confirmLabel={t('Disconnect')}
      loading={loading}
    >
      {t('You will no longer be able to log in with {{provider}}. You can connect it again at any time.', {
        provider: name,
      })}
    </ConfirmDialog>
  );
}
