import { api } from '@stagi/contract/api.ts';
import type { SelfHostedInstance } from '@stagi/contract/instances.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { RenameDialog, RenameForm } from '../../ui/RenameDialog.tsx';

interface Props {
  server: SelfHostedInstance;
  opened: boolean;
  onClose(): void;
}

export function RenameServer({ opened, ...props }: Props) {
  return (
    <RenameDialog opened={opened} onClose={props.onClose}>
      <Form {...props} />
    </RenameDialog>
  );
}

function Form({ server, onClose }: Omit<Props, 'opened'>) {
  const { field, submit, loading } = useCallForm(api.selfHosted.edit, {
    initialValues: { title: server.title },
    toInput: ({ title }) => ({ id: server.id, title }),
    onDone: () => {
      void invalidate('self-hosted-instance/', 'docker-container/');
      onClose();
    },
  });
  return <RenameForm field={field('title')} loading={loading} onSubmit={submit} onCancel={onClose} />;
}
