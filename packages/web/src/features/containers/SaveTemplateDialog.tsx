import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { toast } from '../../ui/toasts.ts';

/** Saves what a container is made of, for the next ones. */
export function SaveTemplateDialog({ container, onClose }: { container: Container; onClose(): void }) {
  const t = useT();
  return (
    <Dialog opened onClose={onClose} title={t('Save as template')} withClose={false}>
      <SaveForm container={container} onClose={onClose} />
    </Dialog>
  );
}

function SaveForm({ container, onClose }: { container: Container; onClose(): void }) {
  const t = useT();
  const { field, submit, loading } = useCallForm(api.containerTemplates.create, {
    initialValues: { title: container.title, description: '' },
    toInput: ({ title, description }) => ({
      containerRef: { id: container.id },
      title,
      description: description.trim() === '' ? undefined : description,
    }),
    onDone: ({ entity }) => {
      void invalidate('docker-container/template/');
      toast.success(t('The template “{{title}}” has been saved', { title: entity.title }));
      onClose();
    },
  });
  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <div>
          {t(
            'Image, command, resources, ports and volumes are kept as they are. Of variables only the names are kept: values are entered anew.',
          )}
        </div>
        <TextInput label={t('Title')} data-autofocus autoComplete="off" limit={100} {...field('title')} />
        <Textarea label={t('Description')} optional minRows={2} maxRows={6} {...field('description')} />
        <DialogButtons onCancel={onClose} submitLabel={t('Save')} loading={loading} testId="template-submit" />
      </Stack>
    </Form>
  );
}
