import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Storage, StorageKey } from '@stagi/contract/storages.ts';
import { useCallForm } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { DialogButtons } from '../../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { formatDate } from '../../../ui/format.ts';
import type { MadeKey } from './NewKey.tsx';

const HOURS = [0, 1, 24, 72, 168];
const HOUR_MS = 3_600_000;

interface Props {
  storage: Storage;
  old: StorageKey;
  onDone(made: MadeKey): void;
  onCancel(): void;
}

/** A new key with the same rights; the old one works on for a while. */
export function RotateKeyForm({ storage: { id }, old, onDone, onCancel }: Props) {
  const t = useT();
  const { form, field, submit, loading } = useCallForm(api.storages.rotateKey, {
    initialValues: { overlapHours: 24 },
    toInput: (values) => ({ id, keyId: old.id, ...values }),
    onDone: ({ entity }) => onDone(entity),
  });
  const { overlapHours } = form.values;
  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <p style={{ margin: 0 }}>{t('You get a new key with the same rights as “{{title}}”.', { title: old.title })}</p>
        <Select
          label={t('The old key works on for')}
          options={HOURS.map((hours) => ({
            value: hours,
            label: hours === 0 ? t('not at all: it ends at once') : t('{{count}} hours', { count: hours }),
          }))}
          description={
            overlapHours > 0
              ? t('It ends on {{when}}', { when: formatDate(new Date(Date.now() + overlapHours * HOUR_MS)) })
              : undefined
          }
          {...field('overlapHours')}
          value={overlapHours}
          onChange={(hours: number | null) => form.setFieldValue('overlapHours', hours ?? 24)}
        />
        <DialogButtons onCancel={onCancel} submitLabel={t('Rotate')} loading={loading} testId="key-submit" />
      </Stack>
    </Form>
  );
}
