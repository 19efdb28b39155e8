import { SegmentedControl, Stack } from '@mantine/core';
import type { SshKey } from '@stagi/contract/sshKeys.ts';
import { useState } from 'react';
import { invalidate } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import type { SshKeyDialogProps } from '../../layouts/slots.ts';
import { useSecretGuard } from '../../layouts/useSecretGuard.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { toast } from '../../ui/toasts.ts';
import { AddKeyForm } from './AddKeyForm.tsx';
import { GeneratedKey } from './GeneratedKey.tsx';
import { GenerateKeyForm } from './GenerateKeyForm.tsx';

type Generated = { sshKey: SshKey; privateKey: string };

/** Adds a key of one's own or makes a pair; the page beneath keeps what was typed there. */
export function SshKeyDialog({ opened, onClose, onAdded }: SshKeyDialogProps) {
  const t = useT();
  const [mode, setMode] = useState<'add' | 'generate'>('add');
  const [generated, setGenerated] = useState<Generated | null>(null);
  const [taken, setTaken] = useState(false);
  const [warned, setWarned] = useState(false);
  const atRisk = generated !== null && !taken;
  const blocker = useSecretGuard(atRisk);

  function close(): void {
    setGenerated(null);
    setTaken(false);
    setWarned(false);
    setMode('add');
    onClose();
  }

  function added(key: SshKey): void {
    void invalidate('ssh-key/');
    onAdded?.(key);
  }

  return (
    <>
      <Dialog
        opened={opened}
        onClose={() => (atRisk ? setWarned(true) : close())}
        title={generated ? t('Save your private key') : t('Add an SSH key')}
        closeOnOutside={!generated}
      >
        {generated ? (
          <GeneratedKey
            {...generated}
            onTaken={() => setTaken(true)}
            onDone={() => (atRisk ? setWarned(true) : close())}
          />
        ) : (
          <Stack gap={16}>
            <SegmentedControl
              aria-label={t('How to add a key')}
              fullWidth
              value={mode}
              onChange={(value) => setMode(value === 'generate' ? 'generate' : 'add')}
              data={[
                { value: 'add', label: t('I have a key') },
                { value: 'generate', label: t('Generate a pair') },
              ]}
            />
            {mode === 'add' ? (
              <AddKeyForm
                onCancel={close}
                onDone={(key) => {
                  added(key);
                  toast.success(t('The SSH key has been added'));
                  close();
                }}
              />
            ) : (
              <GenerateKeyForm
                onCancel={close}
                onDone={(key, privateKey) => {
                  setGenerated({ sshKey: key, privateKey });
                  added(key);
                }}
              />
            )}
          </Stack>
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
        title={t('Close without saving the private key?')}
        lost={[t('The private key: it is shown only now and kept nowhere')]}
        confirmLabel={t('Close anyway')}
      />
    </>
  );
}
