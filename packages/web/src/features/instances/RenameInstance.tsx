import { Button, Group, Modal, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Instance } from '@stagi/contract/instances.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { TextField } from '../../ui/FormField.tsx';

interface Props {
  instance: Instance;
  opened: boolean;
  onClose(): void;
}

export function RenameInstance({ opened, ...props }: Props) {
  const t = useT();
  return (
    <Modal opened={opened} onClose={props.onClose} title={t('Rename')} size={400} withCloseButton={false}>
      <Form {...props} />
    </Modal>
  );
}

/** The Unique ID stays: addresses and scripts hang on it. */
function Form({ instance, onClose }: Omit<Props, 'opened'>) {
  const t = useT();
  const { field, submit, loading } = useCallForm(api.instances.edit, {
    initialValues: { title: instance.title },
    toInput: ({ title }) => ({ id: instance.id, title }),
    onDone: () => {
      void invalidate('instance-rented/', 'docker-container/');
      onClose();
    },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap={16}>
        <TextField label={t('Title')} data-autofocus maxLength={100} {...field('title')} />
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={onClose}>
            {t('Cancel')}
          </Button>
          <Button type="submit" loading={loading} data-testid="rename-submit">
            {t('Save')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
