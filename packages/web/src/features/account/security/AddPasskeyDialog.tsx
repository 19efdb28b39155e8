import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { useState } from 'react';
import { createPasskey } from '../../../api/passkeys.ts';
import { useCall } from '../../../api/useCall.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { Note } from '../../../ui/Note.tsx';
import { toast } from '../../../ui/toasts.ts';
import { RecoveryCodesDialog } from './RecoveryCodesDialog.tsx';
import { refetchFactors } from './refetchFactors.ts';
import own from './security.module.css';

/** Characters. */
const NAME_LIMIT = 100;

/** Asks for a name, then opens the browser's dialog. */
export function AddPasskeyDialog({ number, onClose }: { number: number; onClose(): void }) {
  const t = useT();
  const [name, setName] = useState(() => t('Passkey {{number}}', { number }));
  const [problem, setProblem] = useState<string | null>(null);
  const [making, setMaking] = useState(false);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const options = useCall(api.secondFactor.passkeyAddOptions);
  const add = useCall(api.secondFactor.passkeyAdd, {
    onDone: ({ recoveryCodes }) => {
      toast.success(t('The passkey has been added'));
      refetchFactors();
      if (recoveryCodes) setCodes(recoveryCodes);
      else onClose();
    },
  });

  async function make(): Promise<void> {
    setProblem(null);
    const asked = await options.run({});
    if (!asked) return;
    const attestation = await createPasskey(asked.options);
    if (attestation === 'known') setProblem(t('This device already has a passkey for your account.'));
    else if (attestation === null) setProblem(t('No passkey was created. Try again.'));
    else await add.run({ name, attestation });
  }

  if (codes) return <RecoveryCodesDialog codes={codes} onClose={onClose} />;
  return (
    <Dialog opened onClose={onClose} title={t('Add a passkey')} size="xs" closeOnOutside={false} testId="passkey">
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          if (making || name.trim() === '' || name.trim().length > NAME_LIMIT) return;
          setMaking(true);
          void make().finally(() => setMaking(false));
        }}
      >
        <Stack gap={16}>
          <p className={own.text}>
            {t('Your browser asks next where to keep it: on this device, on your phone or on a security key.')}
          </p>
          <TextInput
            label={t('Name')}
            description={t('To tell your passkeys apart.')}
            value={name}
            limit={NAME_LIMIT}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          {problem && <Note tone="bad">{problem}</Note>}
          <DialogButtons
            onCancel={onClose}
            submitLabel={t('Continue')}
            loading={making}
            disabled={name.trim() === ''}
            testId="passkey-continue"
          />
        </Stack>
      </Form>
    </Dialog>
  );
}
