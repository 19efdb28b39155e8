import { SegmentedControl, Stack } from '@mantine/core';
import type { SshKey } from '@stagi/contract/sshKeys.ts';
import { useState } from 'react';
import { invalidate } from '../../api/query.ts';
import type { SshKeyDialogProps } from '../../featureSlots.ts';
import { useT } from '../../i18n/i18n.ts';
import { SecretDialog } from '../../navigation/SecretDialog.tsx';
import { toast } from '../../ui/toasts.ts';
import { AddKeyForm } from './AddKeyForm.tsx';
import { GeneratedKey } from './GeneratedKey.tsx';
import { GenerateKeyForm } from './GenerateKeyForm.tsx';

type Generated = { sshKey: SshKey; privateKey: string };

/** Adds a public key, or generates a pair and shows its private half for the only time. */
export function SshKeyDialog({ opened, onClose, onAdded }: SshKeyDialogProps) {
  const t = useT();
  const [mode, setMode] = useState<'add' | 'generate'>('add');
  const [generated, setGenerated] = useState<Generated | null>(null);
  const [saved, setSaved] = useState(false);

  function reset(): void {
    setGenerated(null);
    setSaved(false);
    setMode('add');
    onClose();
  }

  function added(key: SshKey): void {
    void invalidate('ssh-key/');
    onAdded?.(key);
  }

  return (
    <SecretDialog
      opened={opened}
      onClose={reset}
      title={generated ? t('Save your private key') : t('Add an SSH key')}
      secret={generated && (saved ? 'saved' : 'unsaved')}
      question={{
        title: t('Close without saving the private key?'),
        lost: t('The private key: it is shown only once and not stored'),
      }}
    >
      {(close) =>
        generated ? (
          <GeneratedKey {...generated} onSaved={() => setSaved(true)} onDone={close} />
        ) : (
          <Stack gap={16}>
            <SegmentedControl
              aria-label={t('How to add a key')}
              fullWidth
              value={mode}
              onChange={(value) => setMode(value === 'generate' ? 'generate' : 'add')}
              data={[
                { value: 'add', label: t('I have a key') },
                { value: 'generate', label: t('Generate a key') },
              ]}
            />
            {mode === 'add' ? (
              <AddKeyForm
                onCancel={close}
                onDone={(key) => {
                  added(key);
                  toast.success(t('The SSH key has been added'));
                  reset();
                }}
              />
            ) : (
              <GenerateKeyForm
                onCancel={close}
                onDone={(sshKey, privateKey) => {
                  setGenerated({ sshKey, privateKey });
                  added(sshKey);
                }}
              />
            )}
          </Stack>
        )
      }
    </SecretDialog>
  );
}
