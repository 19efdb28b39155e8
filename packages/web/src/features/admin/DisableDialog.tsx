import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { CallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { VariantTitle } from '../../ui/dialogs/VariantTitle.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';

interface Props<Of> {
  /** Null: closed. */
  of: Of | null;
  onClose(): void;
  children(of: Of): ReactNode;
}

/** Asks for the reason before a user or a workspace is disabled. Those affected can read it. */
export function DisableDialog<Of extends { name: string }>({ of, onClose, children }: Props<Of>) {
  const t = useT();
  return (
    <Dialog
      opened={of !== null}
      onClose={onClose}
      title={<VariantTitle variant="error">{t('Disable {{name}}?', { name: of?.name ?? '' })}</VariantTitle>}
      withClose={false}
      testId="disable-dialog"
    >
      {of && children(of)}
    </Dialog>
  );
}

interface FormProps<Values extends { reason: string }> extends CallForm<Values> {
  onClose(): void;
  /** What happens then. */
  lead: string;
  /** Who reads the reason. */
  readers: string;
  /** What else is asked. */
  children?: ReactNode;
}

export function ReasonForm<Values extends { reason: string }>({
  field,
  submit,
  loading,
  onClose,
  lead,
  readers,
  children,
}: FormProps<Values>) {
  const t = useT();
  return (
    <Form onSubmit={submit} noValidate>
      <Stack gap={16}>
        <div>{lead}</div>
        <Textarea label={t('Reason')} name="reason" description={readers} data-autofocus {...field('reason')} />
        {children}
        <DialogButtons onCancel={onClose} submitLabel={t('Disable')} danger loading={loading} testId="disable-submit" />
      </Stack>
    </Form>
  );
}
