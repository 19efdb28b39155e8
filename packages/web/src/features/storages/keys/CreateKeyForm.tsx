import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { useCallForm } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { DialogButtons } from '../../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { RadioGroup } from '../../../ui/form/RadioGroup.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import type { MadeKey } from './NewKey.tsx';

const EXAMPLE = 'datasets/';

interface Props {
  storage: Storage;
  onDone(made: MadeKey): void;
  onCancel(): void;
}

export function CreateKeyForm({ storage: { id, kind }, onDone, onCancel }: Props) {
  const t = useT();
  const { form, field, submit, loading } = useCallForm(api.storages.createKey, {
    initialValues: { title: '', mode: kind === 'log' ? 'read-only' : 'read-write', prefix: '' },
    toInput: (values) => ({ id, ...values }),
    onDone: ({ entity }) => onDone(entity),
  });
  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <TextInput
          label={t('Title')}
          placeholder={t('Who or what uses it, such as “backup”')}
          autoComplete="off"
          limit={100}
          data-autofocus
          {...field('title')}
        />
        <RadioGroup
          label={t('Access')}
          options={[
            {
              value: 'read-write',
              label: t('Read and write'),
              disabled: kind === 'log',
              description: kind === 'log' ? t('Only the platform writes to a log bucket') : undefined,
            },
            { value: 'read-only', label: t('Read-only') },
          ]}
          {...field('mode')}
          value={form.values.mode}
        />
        <TextInput
          label={t('Prefix')}
          optional
          placeholder={EXAMPLE}
          description={t('The key reaches only objects whose names begin with it.')}
          autoComplete="off"
          spellCheck={false}
          {...field('prefix')}
        />
        <DialogButtons onCancel={onCancel} submitLabel={t('Create a key')} loading={loading} testId="key-submit" />
      </Stack>
    </Form>
  );
}
