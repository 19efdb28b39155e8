import type { AccountDeletionPreview } from '@stagi/contract/account.ts';
import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { finishAccountDeletion, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { ResultDialog } from '../../ui/dialogs/ResultDialog.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { formatAmount } from '../../ui/format.ts';
import { Loader } from '../../ui/Loader.tsx';
import classes from './AccountPage.module.css';

interface Props {
  opened: boolean;
  onClose(): void;
}

/** Shows what is deleted with the account, or what prevents it, then asks for the email to be typed. */
export function DeleteAccountDialog({ opened, onClose }: Props) {
  const t = useT();
  const { profile } = useUser();
  const lossesOf = useLosses();
  // Read once at each opening, so that a refetch does not interrupt typing.
  const deletion = useQuery({
    ...q(api.account.deletion, {}, { quiet: true }),
    enabled: opened,
    staleTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const { run, loading } = useCall(api.account.delete, {
    onDone: () => finishAccountDeletion(profile.email, t('Your account has been deleted')),
  });

  if (!deletion.data || deletion.isFetching) {
    return (
      <Dialog opened={opened} onClose={onClose} title={t('Delete account')}>
        {deletion.error ? (
          <ErrorState
            title={t('This could not be loaded')}
            message={errorText(deletion.error)}
            onRetry={() => void deletion.refetch()}
          />
        ) : (
          <Loader />
        )}
      </Dialog>
    );
  }
  if (isInTheWay(deletion.data)) {
    return (
      <ResultDialog
        opened={opened}
        onClose={onClose}
        variant="warning"
        size="s"
        title={t('Your account cannot be deleted yet')}
      >
        <Obstacles deletion={deletion.data} />
      </ResultDialog>
    );
  }
  return (
    <ConfirmDialog
      variant="error"
      opened={opened}
      onClose={onClose}
      onConfirm={() => void run({ email: profile.email })}
      title={t('Delete your account?')}
      lost={lossesOf(deletion.data)}
      typeSlug={profile.email}
      confirmLabel={t('Delete account')}
      loading={loading}
    >
      {t('This cannot be undone. You are logged out everywhere at once. Records of payments stay, without your name.')}
    </ConfirmDialog>
  );
}

const isInTheWay = ({ closes, leaves }: AccountDeletionPreview): boolean =>
  closes.some(({ openInstances, openStorages, openProjects }) => openInstances + openStorages + openProjects > 0) ||
  leaves.some(({ lastOwner }) => lastOwner);

function Obstacles({ deletion: { closes, leaves } }: { deletion: AccountDeletionPreview }) {
  const t = useT();
  return (
    <ul className={classes.obstacles}>
      {closes
        .filter(({ openInstances }) => openInstances > 0)
        .map(({ clientId, clientName, openInstances }) => (
          <li key={clientId}>
            {t('{{count}} servers are still there in “{{name}}”.', { count: openInstances, name: clientName })}{' '}
            {t('Terminate or delete them first.')} <Link to={paths.instances()}>{t('Instances')}</Link>,{' '}
            <Link to={paths.selfInstances()}>{t('Self-hosted')}</Link>
          </li>
        ))}
      {closes
        .filter(({ openStorages }) => openStorages > 0)
        .map(({ clientId, clientName, openStorages }) => (
          <li key={clientId}>
            {t('{{count}} storages are still there in “{{name}}”.', { count: openStorages, name: clientName })}{' '}
            {t('Delete them first.')} <Link to={paths.storages()}>{t('Storages')}</Link>
          </li>
        ))}
      {closes
        .filter(({ openProjects }) => openProjects > 0)
        .map(({ clientId, clientName, openProjects }) => (
          <li key={clientId}>
            {t('{{count}} projects are still there in “{{name}}”.', { count: openProjects, name: clientName })}{' '}
            {t('Delete them first.')} <Link to={paths.projects()}>{t('Projects')}</Link>
          </li>
        ))}
      {leaves
        .filter(({ lastOwner }) => lastOwner)
        .map(({ clientId, clientName }) => (
          <li key={clientId}>
            {t('You are the last owner of “{{name}}”, which has other members. Make somebody else an owner first.', {
              name: clientName,
            })}
          </li>
        ))}
    </ul>
  );
}

function useLosses(): (deletion: AccountDeletionPreview) => string[] {
  const t = useT();
  return ({ closes, leaves, sshKeys }) => [
    ...closes.map(({ clientName, balance: { decimalValue, currency } }) =>
      t('“{{name}}” with everything in it and its balance of {{amount}} {{currency}}', {
        name: clientName,
        amount: formatAmount(decimalValue),
        currency,
      }),
    ),
    ...leaves.map(({ clientName }) => t('Your membership in “{{name}}”', { name: clientName })),
    ...(sshKeys > 0 ? [t('{{count}} of your SSH keys, also on the servers of others', { count: sshKeys })] : []),
    t('Your name, address, password, picture, tokens and feedback'),
  ];
}
