import type { api } from '@stagi/contract/api.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useEditVersion } from '../../api/useEditVersion.ts';
import { RenameDialog, RenameForm } from '../../ui/RenameDialog.tsx';

type EditCall = typeof api.instances.edit | typeof api.selfHosted.edit;

interface Props {
  edit: EditCall;
  instance: { id: number; title: string; version?: string | undefined };
  opened: boolean;
  onClose(): void;
}

export function RenameInstance({ opened, ...props }: Props) {
  return (
    <RenameDialog opened={opened} onClose={props.onClose}>
      <TitleForm {...props} />
    </RenameDialog>
  );
}

function TitleForm({ edit, instance: { id, title, version }, onClose }: Omit<Props, 'opened'>) {
  const edited = useEditVersion(version, () => void invalidate('instance-rented/', 'self-hosted-instance/'));
  const { field, submit, loading } = useCallForm<EditCall, { title: string }>(edit, {
    initialValues: { title },
    toInput: (values) => ({ id, ...values, version: edited.version }),
    onRefused: edited.onRefused,
    onDone: () => {
      void invalidate('instance-rented/', 'self-hosted-instance/', 'docker-container/');
      onClose();
    },
  });
  return (
    <RenameForm
      field={field('title')}
      loading={loading}
      isOvertaken={edited.isOvertaken}
      onSubmit={submit}
      onCancel={onClose}
    />
  );
}
