import type { Storage, StorageKey } from '@stagi/contract/storages.ts';
import { useState } from 'react';
import { invalidate } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { SecretDialog } from '../../../navigation/SecretDialog.tsx';
import { CreateKeyForm } from './CreateKeyForm.tsx';
import { type MadeKey, NewKey } from './NewKey.tsx';
import { RotateKeyForm } from './RotateKeyForm.tsx';

interface Props {
  storage: Storage;
  /** `create`, or the key to rotate; null: closed. */
  makes: 'create' | StorageKey | null;
  onClose(): void;
}

/** Creates or rotates a key, then shows its secret for the only time. */
export function KeyDialog({ storage, makes, onClose }: Props) {
  const t = useT();
  const [made, setMade] = useState<MadeKey | null>(null);
  const [saved, setSaved] = useState(false);

  function reset(): void {
    setMade(null);
    setSaved(false);
    onClose();
  }

  function done(key: MadeKey): void {
    setMade(key);
    void invalidate('storage/key/');
  }

  return (
    <SecretDialog
      opened={makes !== null}
      onClose={reset}
      title={made ? t('Save your access key') : makes === 'create' ? t('Create a key') : t('Rotate the key')}
      secret={made === null ? null : saved ? 'saved' : 'unsaved'}
      question={{
        title: t('Close without saving the secret?'),
        lost: t('The secret of the key: it is shown only once'),
      }}
      testId="key-dialog"
    >
      {(close) =>
        made ? (
          <NewKey storage={storage} made={made} onSaved={() => setSaved(true)} onDone={close} />
        ) : makes === 'create' ? (
          <CreateKeyForm storage={storage} onDone={done} onCancel={close} />
        ) : (
          makes && <RotateKeyForm storage={storage} old={makes} onDone={done} onCancel={close} />
        )
      }
    </SecretDialog>
  );
}
