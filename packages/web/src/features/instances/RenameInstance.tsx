import { api } from '@stagi/contract/api.ts';
import type { Instance } from '@stagi/contract/instances.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { RenameDialog, RenameForm } from '../../ui/RenameDialog.tsx';

interface Props {
  instance: Instance;
  opened: boolean;
  onClose(): void;
}

export function RenameInstance({ opened, ...props }: Props) {
  return (
    <RenameDialog opened={opened} onClose={props.onClose}>
      <Form {...props} />
    </RenameDialog>
  );
}

function Form({ instance, onClose }: Omit<Props, 'opened'>) {
  const { field, submit, loading } = useCallForm(api.instances.edit, {
    initialValues: { title: instance.title },
    toInput: ({ title }) => ({ id: instance.id, title }),
    onDone: () => {
      void invalidate('instance-rented/', 'docker-container/');
      onClose();
    },
  });
  return <RenameForm field={field('title')} loading={loading} onSubmit={submit} onCancel={onClose} />;
}
