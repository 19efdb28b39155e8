import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { useCall } from '../../api/useCall.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { leaveRemovedWorkspace, switchWorkspace, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';

interface Props {
  opened: boolean;
  onClose(): void;
}

/** Creates a workspace and switches to it. */
export function CreateWorkspace({ opened, onClose }: Props) {
  const t = useT();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('Create a workspace')} size="xs" withClose={false} routed>
      <CreateForm onCancel={onClose} />
    </Dialog>
  );
}

function CreateForm({ onCancel }: { onCancel(): void }) {
  const t = useT();
  const user = useUser();
  const { field, submit, loading } = useCallForm(api.clients.create, {
    initialValues: { name: '' },
    onDone: ({ entity }) => switchWorkspace(user, entity),
  });
  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <TextInput
          label={t('Name')}
          placeholder={t('Such as the name of your team')}
          autoComplete="off"
          limit={100}
          data-autofocus
          {...field('name')}
        />
        <p className="muted" style={{ margin: 0 }}>
          {t('It has a balance, servers and members of its own. You will be its owner.')}
        </p>
        <DialogButtons onCancel={onCancel} submitLabel={t('Create')} loading={loading} testId="workspace-submit" />
      </Stack>
    </Form>
  );
}

export function LeaveWorkspace({ opened, onClose }: Props) {
  const t = useT();
  const { workspace } = useUser();
  const { run, loading } = useCall(api.clients.leave, { onDone: () => leaveRemovedWorkspace() });
  return (
    <ConfirmDialog
      variant="error"
      opened={opened}
      onClose={onClose}
      onConfirm={() => void run({})}
      title={t('Leave “{{workspace}}”?', { workspace: workspace?.clientName ?? '' })}
      lost={[t('Your access to it, your API tokens in it, and your SSH keys on its servers')]}
      confirmLabel={t('Leave')}
      loading={loading}
    >
      {t('Everything created in the workspace stays: servers, containers, data.')}
    </ConfirmDialog>
  );
}
