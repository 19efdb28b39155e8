import { Stack } from '@mantine/core';
import type { AccountDeletionPreview } from '@stagi/contract/account.ts';
import type { AdminUser } from '@stagi/contract/adminUsers.ts';
import { api } from '@stagi/contract/api.ts';
import { text } from '@stagi/contract/text.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { invalidate, q } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { VariantTitle } from '../../ui/dialogs/VariantTitle.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { formatAmount } from '../../ui/format.ts';
import { Loader } from '../../ui/Loader.tsx';
import { Note } from '../../ui/Note.tsx';
import { toast } from '../../ui/toasts.ts';
import classes from './Admin.module.css';

interface Props {
  user: AdminUser | null;
  onClose(): void;
}

/** Shows what is deleted with somebody's account, or what prevents it, then asks for the email and a reason. */
export function DeleteUser({ user, onClose }: Props) {
  const t = useT();
  return (
    <Dialog
      opened={user !== null}
      onClose={onClose}
      title={
        <VariantTitle variant="error">{t('Delete the account of {{name}}?', { name: user?.name ?? '' })}</VariantTitle>
      }
      withClose={false}
      testId="delete-user-dialog"
    >
      {user && <Loaded user={user} onClose={onClose} />}
    </Dialog>
  );
}

interface LoadedProps {
  user: AdminUser;
  onClose(): void;
}

function Loaded({ user, onClose }: LoadedProps) {
  const t = useT();
  // Read once at each opening, so that a refetch does not interrupt typing.
  const { data, error, refetch, isFetching } = useQuery({
    ...q(api.adminUsers.deletion, { id: user.id }, { quiet: true }),
    staleTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (error && !isFetching)
    return (
      <ErrorState title={t('This could not be loaded')} message={errorText(error)} onRetry={() => void refetch()} />
    );
  if (!data || isFetching) return <Loader />;
  const obstacles = obstaclesIn(data);
  if (obstacles.length === 0) return <Fields user={user} deletion={data} onClose={onClose} />;
  return (
    <Stack gap={16}>
      <Note tone="warn" title={t('The account cannot be deleted yet')}>
        <ul className={classes.lines}>
          {obstacles.map(({ clientId, words, values, advice }) => (
            <li key={`${clientId} ${words}`}>
              {t(words, values)} {t(advice)} <Link to={paths.adminWorkspace(clientId)}>{t('Workspace')}</Link>
            </li>
          ))}
        </ul>
      </Note>
      <div className={classes.end}>
        <Button color="gray" onClick={onClose}>
          {t('Close')}
        </Button>
      </div>
    </Stack>
  );
}

interface Obstacle {
  clientId: number;
  words: string;
  values: { count?: number; name: string };
  advice: string;
}

function obstaclesIn({ closes, leaves }: AccountDeletionPreview): Obstacle[] {
  const found: Obstacle[] = [];
  for (const { clientId, clientName: name, openInstances, openStorages, openProjects } of closes) {
    const add = (count: number, words: string, advice: string) => {
      if (count > 0) found.push({ clientId, words, values: { count, name }, advice });
    };
    add(
      openInstances,
      text('{{count}} servers are still there in “{{name}}”.'),
      text('Have a member terminate or delete that first; disabling the workspace stops servers meanwhile.'),
    );
    add(
      openStorages,
      text('{{count}} storages are still there in “{{name}}”.'),
      text('Have a member delete that first.'),
    );
    add(
      openProjects,
      text('{{count}} projects are still there in “{{name}}”.'),
      text('Have a member delete that first.'),
    );
  }
  for (const { clientId, clientName: name, lastOwner } of leaves)
    if (lastOwner)
      found.push({
        clientId,
        words: text('The account is the last owner of “{{name}}”, which has other members.'),
        values: { name },
        advice: text('Have somebody else made an owner first.'),
      });
  return found;
}

function Fields({ user, deletion, onClose }: LoadedProps & { deletion: AccountDeletionPreview }) {
  const t = useT();
  const { field, submit, loading } = useCallForm(api.adminUsers.delete, {
    initialValues: { email: '', reason: '' },
    toInput: ({ email, reason }) => ({ id: user.id, email, reason }),
    onDone: () => {
      void invalidate('admin/');
      toast.success(t('The account of {{name}} has been deleted', { name: user.name }));
      onClose();
    },
  });
  return (
    <Form onSubmit={submit} noValidate>
      <Stack gap={16}>
        <div>{t('This cannot be undone. Records of payments stay, without the name.')}</div>
        <div className={classes.lost}>
          <p>{t('This will be lost:')}</p>
          <ul className={classes.lines}>
            {lossesIn(deletion).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </div>
        <TextInput
          label={
            <>
              {t('To confirm, type')} <code className="mono">{user.email}</code>
            </>
          }
          name="email"
          autoComplete="off"
          spellCheck={false}
          classNames={{ input: 'mono' }}
          data-autofocus
          {...field('email')}
        />
        <Textarea
          label={t('Reason')}
          name="reason"
          description={t('It is emailed to {{email}}.', { email: user.email })}
          {...field('reason')}
        />
        <DialogButtons
          onCancel={onClose}
          submitLabel={t('Delete account')}
          danger
          loading={loading}
          testId="delete-user-submit"
        />
      </Stack>
    </Form>
  );

  function lossesIn({ closes, leaves, sshKeys }: AccountDeletionPreview): string[] {
    return [
      ...closes.map(({ clientName, balance: { decimalValue, currency } }) =>
        t('“{{name}}” with everything in it and its balance of {{amount}} {{currency}}', {
          name: clientName,
          amount: formatAmount(decimalValue),
          currency,
        }),
      ),
      ...leaves.map(({ clientName }) => t('The membership in “{{name}}”', { name: clientName })),
      ...(sshKeys > 0 ? [t('{{count}} SSH keys, also on the servers of others', { count: sshKeys })] : []),
      t('Name, address, password, picture, tokens and feedback'),
    ];
  }
}
