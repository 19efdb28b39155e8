import { Button, Group, Modal, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { SelfHostedInstance } from '@stagi/contract/instances.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { TextField } from '../../ui/FormField.tsx';

interface Props {
  server: SelfHostedInstance;
  opened: boolean;
  onClose(): void;
}

export function RenameServer({ opened, ...props }: Props) {
  const t = useT();
  return (
    <Modal opened={opened} onClose={props.onClose} title={t('Rename')} size={400} withCloseButton={false}>
      <Form {...props} />
    </Modal>
  );
}

function Form({ server, onClose }: Omit<Props, 'opened'>) {
  const t = useT();
  const { field, submit, loading } = useCallForm(api.selfHosted.edit, {
    initialValues: { title: server.title },
    toInput: ({ title }) => ({ id: server.id, title }),
    onDone: () => {
      void invalidate('self-hosted-instance/', 'docker-container/');
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
