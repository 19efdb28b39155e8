import { Skeleton, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { RegistryCredential } from '@stagi/contract/registries.ts';
import { IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../../../api/messages.ts';
import { invalidate, q } from '../../../api/query.ts';
import { useCall } from '../../../api/useCall.ts';
import { useCallForm } from '../../../api/useCallForm.ts';
import { type T, useT } from '../../../i18n/i18n.ts';
import { personName } from '../../../i18n/personName.ts';
import { ConfirmDialog } from '../../../ui/dialogs/ConfirmDialog.tsx';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../../ui/dialogs/DialogButtons.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { PasswordInput } from '../../../ui/form/PasswordInput.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { IconButton } from '../../../ui/IconButton.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import { toast } from '../../../ui/toasts.ts';
import classes from './RegistriesDialog.module.css';

interface Props {
  opened: boolean;
  onClose(): void;
  /** The registry whose credential is asked for. */
  host?: string;
}

/** What servers log in to private registries with: list, add, delete. */
export function RegistriesDialog({ opened, onClose, host = '' }: Props) {
  const t = useT();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('Private registries')} testId="registries">
      <Stack gap={24}>
        <div>
          {t(
            'Servers of this workspace log in with these when they pull an image, each at its own registry alone. They are kept encrypted, given to a server only for the pull, and not shown again.',
          )}
        </div>
        <Credentials />
        <AddForm host={host} onClose={onClose} />
      </Stack>
    </Dialog>
  );
}

function Credentials() {
  const t = useT();
  const { data, error, refetch } = useQuery(q(api.registries.list, {}, { quiet: true }));
  const [doomed, setDoomed] = useState<RegistryCredential | null>(null);
  const remove = useCall(api.registries.remove, {
    onDone: () => {
      void invalidate('docker-container/');
      setDoomed(null);
      toast.success(t('The credential has been deleted'));
    },
  });
  if (error && !data) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height={56} aria-busy="true" />;
  if (data.entities.length === 0) return null;
  return (
    <>
      <ul className={classes.list} aria-label={t('Private registries')}>
        {data.entities.map((credential) => (
          <li key={credential.id} className={classes.row} data-testid="registry-row">
            <span className={classes.words}>
              <span className="mono">{credential.host}</span>
              <span className="muted">
                {credential.username}
                {credential.createdBy !== null && ` · ${personName(t, credential.createdBy)}`} ·{' '}
                <DateTime at={credential.createdAt} />
              </span>
              <span className="muted">{serversOf(t, credential)}</span>
            </span>
            <IconButton
              label={t('Delete the credential for {{host}}', { host: credential.host })}
              color="danger"
              onClick={() => setDoomed(credential)}
            >
              <IconTrash size={16} />
            </IconButton>
          </li>
        ))}
      </ul>
      <ConfirmDialog
        opened={doomed !== null}
        onClose={() => setDoomed(null)}
        title={t('Delete the credential for {{host}}?', { host: doomed?.host ?? '' })}
        variant="error"
        confirmLabel={t('Delete')}
        loading={remove.loading}
        onConfirm={() => doomed && void remove.run({ id: doomed.id })}
      >
        {t('Private images of this registry can no longer be pulled. Those that servers have already stay there.')}
      </ConfirmDialog>
    </>
  );
}

/** Which servers get it: one that was attached later does not. */
function serversOf(t: T, { isForRented, ownServers }: RegistryCredential): string {
  const names = ownServers.map(({ title }) => title);
  const all = isForRented ? [t('Rented instances'), ...names] : names;
  return all.length > 0 ? t('For: {{servers}}', { servers: all.join(', ') }) : t('For no server');
}

function AddForm({ host, onClose }: { host: string; onClose(): void }) {
  const t = useT();
  const { form, field, submit, loading } = useCallForm(api.registries.add, {
    initialValues: { host, username: '', secret: '' },
    onDone: ({ entity }) => {
      void invalidate('docker-container/');
      toast.success(t('The credential for {{host}} has been stored', { host: entity.host }));
      form.setValues({ host: '', username: '', secret: '' });
    },
  });
  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <TextInput
          label={t('Registry')}
          description={t('As in the name of the image; docker.io for Docker Hub')}
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          data-autofocus={host === '' || undefined}
          classNames={{ input: 'mono' }}
          data-testid="registry-host"
          {...field('host')}
        />
        <TextInput
          label={t('User name')}
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          data-autofocus={host !== '' || undefined}
          data-testid="registry-username"
          {...field('username')}
        />
        <PasswordInput
          label={t('Password or access token')}
          description={t(
            'A token that can only read is enough. It replaces an earlier one for the same registry. A self-hosted instance that is attached later does not get it.',
          )}
          autoComplete="new-password"
          data-testid="registry-secret"
          {...field('secret')}
        />
        <DialogButtons
          onCancel={onClose}
          cancelLabel={t('Close')}
          submitLabel={t('Save')}
          loading={loading}
          testId="registry-submit"
        />
      </Stack>
    </Form>
  );
}
