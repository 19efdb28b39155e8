import { api } from '@stagi/contract/api.ts';
import type { Passkey } from '@stagi/contract/secondFactor.ts';
import { IconFingerprint, IconPencil, IconTrash } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { hasPasskeys } from '../../../api/passkeys.ts';
import { useCall } from '../../../api/useCall.ts';
import { useCallForm } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ActionMenu } from '../../../ui/actions.tsx';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/ConfirmDialog.tsx';
import { RenameDialog, RenameForm } from '../../../ui/RenameDialog.tsx';
import { Tag } from '../../../ui/Tag.tsx';
import { DateTime, TimeAgo } from '../../../ui/Time.tsx';
import { toast } from '../../../ui/toasts.ts';
import classes from '../AccountPage.module.css';
import { lastFactorText } from './lastFactorText.ts';
import { refetchFactors } from './refetchFactors.ts';
import own from './security.module.css';

const AddPasskeyDialog = lazy(async () => ({ default: (await import('./AddPasskeyDialog.tsx')).AddPasskeyDialog }));

interface Props {
  passkeys: readonly Passkey[];
  /** There is no other kind of factor. */
  isOnlyFactor: boolean;
}

/** Passkeys: sign in without a password, or serve as the second factor beside it. */
export function PasskeysSection({ passkeys, isOnlyFactor }: Props) {
  const t = useT();
  const [adding, setAdding] = useState(false);
  const [renaming, setRenaming] = useState<Passkey | null>(null);
  const [removing, setRemoving] = useState<Passkey | null>(null);
  return (
    <section className={classes.section} aria-labelledby="passkeys">
      <h2 id="passkeys">{t('Passkeys')}</h2>
      <div className={classes.fields}>
        <p className={`${classes.hint} ${own.text}`}>
          {t(
            'Log in with your fingerprint, face, device lock or a security key instead of a password. When you use the password, you are asked for a passkey too.',
          )}
        </p>
        {passkeys.length > 0 && (
          <ul className={own.passkeys} aria-labelledby="passkeys">
            {passkeys.map((passkey) => (
              <li key={passkey.id} data-testid="passkey-row">
                <IconFingerprint size={18} aria-hidden="true" />
                <div className={own.passkey}>
                  <div className={own.state}>
                    <span className={own.name}>{passkey.name}</span>
                    {passkey.synced && <Tag>{t('Synced')}</Tag>}
                  </div>
                  <div className={classes.hint}>
                    {t('Added')} <DateTime at={passkey.createdAt} /> ·{' '}
                    {passkey.lastUsedAt ? (
                      <>
                        {t('Last used')} <TimeAgo at={passkey.lastUsedAt} />
                      </>
                    ) : (
                      t('Not used yet')
                    )}
                  </div>
                </div>
                <ActionMenu
                  label={t('Actions for {{title}}', { title: passkey.name })}
                  actions={[
                    {
                      label: t('Rename'),
                      icon: <IconPencil size={16} />,
                      testId: 'action-rename',
                      onClick: () => setRenaming(passkey),
                    },
                    {
                      label: t('Remove'),
                      icon: <IconTrash size={16} />,
                      danger: true,
                      testId: 'action-remove',
                      onClick: () => setRemoving(passkey),
                    },
                  ]}
                />
              </li>
            ))}
          </ul>
        )}
        <div>
          <Button
            color="gray"
            reason={hasPasskeys() ? null : t('This browser cannot use passkeys here.')}
            onClick={() => setAdding(true)}
            data-testid="passkey-add"
          >
            {t('Add a passkey')}
          </Button>
        </div>
      </div>
      {adding && (
        <Suspense>
          <AddPasskeyDialog number={passkeys.length + 1} onClose={() => setAdding(false)} />
        </Suspense>
      )}
      <RenameDialog opened={renaming !== null} onClose={() => setRenaming(null)}>
        {renaming && <Rename passkey={renaming} onClose={() => setRenaming(null)} />}
      </RenameDialog>
      <Remove
        passkey={removing}
        isLastFactor={isOnlyFactor && passkeys.length === 1}
        onClose={() => setRemoving(null)}
      />
    </section>
  );
}

function Rename({ passkey, onClose }: { passkey: Passkey; onClose(): void }) {
  const { field, submit, loading } = useCallForm(api.secondFactor.passkeyEdit, {
    initialValues: { name: passkey.name },
    toInput: ({ name }) => ({ id: passkey.id, name }),
    onDone: () => {
      refetchFactors();
      onClose();
    },
  });
  return <RenameForm field={field('name')} loading={loading} onSubmit={submit} onCancel={onClose} />;
}

interface RemoveProps {
  passkey: Passkey | null;
  isLastFactor: boolean;
  onClose(): void;
}

function Remove({ passkey, isLastFactor, onClose }: RemoveProps) {
  const t = useT();
  const { run, loading } = useCall(api.secondFactor.passkeyRemove, {
    onDone: () => {
      refetchFactors();
      toast.success(t('The passkey has been removed'));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      variant="error"
      opened={passkey !== null}
      onClose={onClose}
      onConfirm={() => passkey && void run({ id: passkey.id })}
      title={t('Remove the passkey “{{name}}”?', { name: passkey?.name ?? '' })}
      confirmLabel={t('Remove')}
      loading={loading}
    >
      {t('You will no longer be able to log in with it.')} {isLastFactor && lastFactorText(t)}
    </ConfirmDialog>
  );
}
