import { Stack } from '@mantine/core';
import type { AdminClient } from '@stagi/contract/adminClients.ts';
import { api } from '@stagi/contract/api.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import { fromDecimal, toDecimal } from '@stagi/contract/money.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { formatAmount } from '../../ui/format.ts';
import { toast } from '../../ui/toasts.ts';

interface Props {
  workspace: AdminClient | null;
  onClose(): void;
}

export function AddCredit({ workspace, onClose }: Props) {
  const t = useT();
  return (
    <Dialog
      opened={workspace !== null}
      onClose={onClose}
      title={t('Add credit to {{name}}', { name: workspace?.name ?? '' })}
      withClose={false}
      testId="credit-dialog"
    >
      {workspace && <Fields workspace={workspace} onClose={onClose} />}
    </Dialog>
  );
}

function Fields({ workspace, onClose }: { workspace: AdminClient; onClose(): void }) {
  const t = useT();
  const { form, field, submit, loading } = useCallForm(api.adminClients.addCredit, {
    initialValues: { amount: '', reason: '' },
    toInput: ({ amount, reason }) => ({ id: workspace.id, amount, reason }),
    onDone: ({ entity: { name } }) => {
      void invalidate('admin/');
      toast.success(t('Credit has been added to {{name}}', { name }));
      onClose();
    },
  });
  const after = balanceAfter(workspace.balance.STAGI.decimalValue, form.values.amount);
  return (
    <Form onSubmit={submit} noValidate>
      <Stack gap={16}>
        <div>{t('It can be spent like other credit, and cannot be withdrawn.')}</div>
        <TextInput
          label={t('Amount in {{currency}}', { currency: CURRENCY })}
          name="amount"
          inputMode="decimal"
          autoComplete="off"
          description={t('Balance afterwards: {{amount}} {{currency}}', {
            amount: after === null ? '—' : formatAmount(after),
            currency: CURRENCY,
          })}
          data-autofocus
          {...field('amount')}
        />
        <Textarea
          label={t('Reason')}
          name="reason"
          description={t('It is shown with the transaction, emailed to the owners and recorded in the audit log.')}
          {...field('reason')}
        />
        <DialogButtons onCancel={onClose} submitLabel={t('Add credit')} loading={loading} testId="credit-submit" />
      </Stack>
    </Form>
  );
}

/** The answer is null while no amount is typed. */
function balanceAfter(balance: string, amount: string): string | null {
  if (!/^\d{1,7}(\.\d{1,6})?$/.test(amount.trim())) return null;
  return toDecimal(fromDecimal(balance) + fromDecimal(amount.trim()));
}
