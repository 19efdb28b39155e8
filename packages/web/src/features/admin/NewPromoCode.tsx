import { Group, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import { text } from '@stagi/contract/text.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { NumberInput } from '../../ui/form/NumberInput.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { toast } from '../../ui/toasts.ts';

const DAYS: Record<string, string> = {
  '7': text('in a week'),
  '30': text('in 30 days'),
  '90': text('in 90 days'),
  '365': text('in a year'),
};
const DAY_MS = 86_400_000;

export function NewPromoCode({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useT();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('Create a promo code')} withClose={false} testId="promo-dialog">
      <Fields onClose={onClose} />
    </Dialog>
  );
}

function Fields({ onClose }: { onClose(): void }) {
  const t = useT();
  const { field, submit, loading } = useCallForm(api.promoCodes.create, {
    initialValues: { code: '', amount: '', uses: 1 as number | string, days: '30' as string | null, note: '' },
    toInput: ({ code, amount, uses, days, note }) => ({
      ...(code.trim() !== '' && { code }),
      amount: String(amount),
      uses: uses === '' ? undefined : Number(uses),
      expiresAt: days === null ? undefined : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
      note,
    }),
    alsoCheck: ({ days }): Record<string, string> => (days === null ? { days: text('Please choose an option') } : {}),
    fieldOf: (path) => (path === 'expiresAt' ? 'days' : path),
    onDone: ({ entity }) => {
      void invalidate('admin/promo-code/');
      toast.success(t('{{code}} has been created', { code: entity.code }));
      onClose();
    },
  });
  return (
    <Form onSubmit={submit} noValidate>
      <Stack gap={16}>
        <TextInput
          label={t('Code')}
          optional
          name="code"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          description={t('Leave empty to generate a random code.')}
          data-autofocus
          {...field('code')}
        />
        <Group gap={16} grow align="flex-start">
          <TextInput
            label={t('Amount in {{currency}}', { currency: CURRENCY })}
            name="amount"
            inputMode="decimal"
            autoComplete="off"
            {...field('amount')}
          />
          <NumberInput label={t('Uses')} name="uses" min={1} max={1_000_000} {...field('uses')} />
        </Group>
        <Select
          label={t('Expires')}
          name="days"
          options={Object.entries(DAYS).map(([value, word]) => ({ value, label: t(word) }))}
          {...field('days')}
        />
        <Textarea label={t('Note')} optional name="note" description={t('For operators only.')} {...field('note')} />
        <DialogButtons onCancel={onClose} submitLabel={t('Create')} loading={loading} testId="promo-dialog-submit" />
      </Stack>
    </Form>
  );
}
