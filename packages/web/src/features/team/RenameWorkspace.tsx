import { api } from '@stagi/contract/api.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useEditVersion } from '../../api/useEditVersion.ts';
import { useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { RenameDialog, RenameForm } from '../../ui/RenameDialog.tsx';
import { toast } from '../../ui/toasts.ts';

export function RenameWorkspace({ opened, onClose }: { opened: boolean; onClose(): void }) {
  return (
    <RenameDialog opened={opened} onClose={onClose}>
      <NameForm onClose={onClose} />
    </RenameDialog>
  );
}

function NameForm({ onClose }: { onClose(): void }) {
  const t = useT();
  const { workspace } = useUser();
  const edit = useEditVersion(workspace?.version, () => void invalidate('user/profile'));
  const { field, submit, loading } = useCallForm(api.clients.edit, {
    initialValues: { newName: workspace?.clientName ?? '' },
    toInput: (values) => ({ ...values, version: edit.version }),
    onRefused: edit.onRefused,
    onDone: () => {
      // The profile brings the new name to the header, the list and what this browser remembers.
      void invalidate('user/profile');
      toast.success(t('The workspace has been renamed'));
      onClose();
    },
  });
  return (
    <RenameForm
      label={t('Name')}
      field={field('newName')}
      loading={loading}
      isOvertaken={edit.isOvertaken}
      onSubmit={submit}
      onCancel={onClose}
    />
  );
}
