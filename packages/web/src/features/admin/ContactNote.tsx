import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { ContactRequest } from '@stagi/contract/contact.ts';
import { useLayoutEffect, useState } from 'react';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { GuardedDialog } from '../../navigation/GuardedDialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';
import { toast } from '../../ui/toasts.ts';

interface Props {
  request: ContactRequest | null;
  onClose(): void;
}

/** Marks a request as handled, with a note; of a handled one the note can be changed. */
export function ContactNote({ request, onClose }: Props) {
  const t = useT();
  const [changed, setChanged] = useState(false);
  const finish = () => {
    setChanged(false);
    onClose();
  };
  return (
    <GuardedDialog
      opened={request !== null}
      onClose={finish}
      title={request?.handled ? t('Edit the note') : t('Mark as handled')}
      atRisk={changed && request !== null}
      withSearch
      question={{ title: t('Close without saving?'), lost: t('Your note') }}
      testId="contact-note"
    >
      {(close) => request && <NoteForm request={request} onChanged={setChanged} onClose={close} onSaved={finish} />}
    </GuardedDialog>
  );
}

interface FormProps {
  request: ContactRequest;
  onChanged(changed: boolean): void;
  onClose(): void;
  onSaved(): void;
}

function NoteForm({ request: { id, name, note, handled }, onChanged, onClose, onSaved }: FormProps) {
  const t = useT();
  const { form, field, submit, loading } = useCallForm(api.contact.handle, {
    initialValues: { note },
    toInput: (values) => ({ id, handled: true, ...values }),
    onDone: () => {
      toast.success(handled ? t('The note has been saved') : t('The request of {{name}} is handled', { name }));
      void invalidate('admin/contact/');
      onSaved();
    },
  });
  const isChanged = form.values.note !== note;
  // Before the next key, which may be Escape.
  useLayoutEffect(() => onChanged(isChanged), [isChanged, onChanged]);
  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <Textarea
          label={t('Note')}
          optional
          name="note"
          description={t('Only operators see it.')}
          data-autofocus
          {...field('note')}
        />
        <DialogButtons
          onCancel={onClose}
          submitLabel={handled ? t('Save') : t('Mark as handled')}
          loading={loading}
          testId="contact-note-submit"
        />
      </Stack>
    </Form>
  );
}
