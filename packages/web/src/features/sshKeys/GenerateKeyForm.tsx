import { Group, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { type SshKey, SshKeyType } from '@stagi/contract/sshKeys.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { text } from '../../i18n/text.ts';
import { Button } from '../../ui/Button.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';

const WORDS: Record<string, string> = {
  ed25519: text('Ed25519: short, fast, understood by all'),
  rsa: text('RSA: for old clients'),
};

/** A pair made by the platform; the private half is answered once. */
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
          placeholder={t('Where the key will live, such as “laptop”')}
          autoComplete="off"
          maxLength={100}
          data-autofocus
          {...field('title')}
        />
        <Select
          label={t('Type')}
          options={SshKeyType.options.map((type) => ({ value: type, label: t(WORDS[type] ?? type) }))}
          {...field('type')}
        />
        <p className="muted" style={{ margin: 0 }}>
          {t('We keep the public half. The private half is shown once, right after this step.')}
        </p>
        <Group justify="flex-end" gap={8}>
          <Button color="gray" onClick={onCancel}>
            {t('Cancel')}
          </Button>
          <Button type="submit" loading={loading} data-testid="ssh-key-submit">
            {t('Generate')}
          </Button>
        </Group>
      </Stack>
    </Form>
  );
}
