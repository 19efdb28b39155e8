import { useState } from 'react';
import { invalidate } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { SecretDialog } from '../../navigation/SecretDialog.tsx';
import { CreateTokenForm } from './CreateTokenForm.tsx';
import { NewToken } from './NewToken.tsx';

/** Creates a token, then shows it for the only time. */
export function CreateTokenDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useT();
  const [token, setToken] = useState<string | null>(null);
  const [saved, setSaved] = useState(false);

  function reset(): void {
    setToken(null);
    setSaved(false);
    onClose();
  }

  return (
    <SecretDialog
      opened={opened}
      onClose={reset}
      title={token ? t('Save your token') : t('Create an API token')}
      secret={token === null ? null : saved ? 'saved' : 'unsaved'}
      question={{
        title: t('Close without saving the token?'),
        lost: t('The token: it is shown only once and not stored'),
      }}
      testId="token-dialog"
    >
      {(close) =>
        token ? (
          <NewToken token={token} onSaved={() => setSaved(true)} onDone={close} />
        ) : (
          <CreateTokenForm
            onCancel={close}
            onDone={(created) => {
              setToken(created);
              void invalidate('api-token/');
            }}
          />
        )
      }
    </SecretDialog>
  );
}
