import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { type SshKey, SshKeyType } from '@stagi/contract/sshKeys.ts';
import { text } from '@stagi/contract/text.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';

const WORDS: Record<string, string> = {
  ed25519: text('Ed25519: short, fast, widely supported'),
  rsa: text('RSA: for old clients'),
};

/** Generates a key pair on the platform. The private half is shown once. */
export function GenerateKeyForm({
  onDone,
  onCancel,
}: {
  onDone(key: SshKey, privateKey: string): void;
  onCancel(): void;
}) {
  const t = useT();
  const { field, submit, loading } = useCallForm(api.sshKeys.generate, {
    initialValues: { title: '', type: 'ed25519' },
    onDone: ({ entity, privateKey }) => onDone(entity, privateKey),
  });
  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <TextInput
          label={t('Title')}
          placeholder={t('Where the key will be stored, such as “laptop”')}
          autoComplete="off"
          limit={100}
          data-autofocus
          {...field('title')}
        />
        <Select
          label={t('Type')}
          options={SshKeyType.options.map((type) => ({ value: type, label: t(WORDS[type] ?? type) }))}
          {...field('type')}
        />
        <p className="muted" style={{ margin: 0 }}>
          {t('We store the public key. The private key is shown once, right after this step.')}
        </p>
        <DialogButtons onCancel={onCancel} submitLabel={t('Generate')} loading={loading} testId="ssh-key-submit" />
      </Stack>
    </Form>
  );
}
