import { useState } from 'react';
import { invalidate } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { useSecretGuard } from '../../layouts/useSecretGuard.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { CreateTokenForm } from './CreateTokenForm.tsx';
import { NewToken } from './NewToken.tsx';

/** Makes a token, then shows it for the only time. */
export function CreateTokenDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useT();
  const [token, setToken] = useState<string | null>(null);
  const [taken, setTaken] = useState(false);
  const [warned, setWarned] = useState(false);
  const atRisk = token !== null && !taken;
  const blocker = useSecretGuard(atRisk);

  function close(): void {
    setToken(null);
    setTaken(false);
    setWarned(false);
    onClose();
  }
  const closeOrWarn = () => (atRisk ? setWarned(true) : close());

  return (
    <>
      <Dialog
        opened={opened}
        onClose={closeOrWarn}
        title={token ? t('Save your token') : t('Create an API token')}
        closeOnOutside={token === null}
        testId="token-dialog"
      >
        {token ? (
          <NewToken token={token} onTaken={() => setTaken(true)} onDone={closeOrWarn} />
        ) : (
          <CreateTokenForm
            onCancel={close}
            onDone={(made) => {
              setToken(made);
              void invalidate('api-token/');
            }}
          />
        )}
      </Dialog>
      <ConfirmDialog
        variant="error"
        opened={warned || blocker.state === 'blocked'}
        onClose={() => {
          setWarned(false);
          blocker.reset?.();
        }}
        onConfirm={() => {
          close();
          blocker.proceed?.();
        }}
        title={t('Close without saving the token?')}
        lost={[t('The token: it is shown only now and kept nowhere')]}
        confirmLabel={t('Close anyway')}
      />
    </>
  );
}
