import type { api } from '@stagi/contract/api.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { RenameDialog, RenameForm } from '../../ui/RenameDialog.tsx';

type EditCall = typeof api.instances.edit | typeof api.selfHosted.edit;

interface Props {
  edit: EditCall;
  instance: { id: number; title: string };
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

function TitleForm({ edit, instance: { id, title }, onClose }: Omit<Props, 'opened'>) {
  const { field, submit, loading } = useCallForm<EditCall, { title: string }>(edit, {
    initialValues: { title },
    toInput: (values) => ({ id, ...values }),
    onDone: () => {
      void invalidate('instance-rented/', 'self-hosted-instance/', 'docker-container/');
      onClose();
    },
  });
  return <RenameForm field={field('title')} loading={loading} onSubmit={submit} onCancel={onClose} />;
}
