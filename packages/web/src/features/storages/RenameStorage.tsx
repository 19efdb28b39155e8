import { api } from '@stagi/contract/api.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useEditVersion } from '../../api/useEditVersion.ts';
import { RenameDialog, RenameForm } from '../../ui/RenameDialog.tsx';

interface Props {
  /** Null: closed. */
  storage: Storage | null;
  onClose(): void;
}

export function RenameStorage({ storage, onClose }: Props) {
  return (
    <RenameDialog opened={storage !== null} onClose={onClose}>
      {storage && <TitleForm storage={storage} onClose={onClose} />}
    </RenameDialog>
  );
}

function TitleForm({ storage: { id, title, version }, onClose }: { storage: Storage; onClose(): void }) {
  const edit = useEditVersion(version, () => void invalidate('storage/'));
  const { field, submit, loading } = useCallForm(api.storages.edit, {
    initialValues: { title },
    toInput: (values) => ({ id, ...values, version: edit.version }),
    onRefused: edit.onRefused,
    onDone: () => {
      void invalidate('storage/');
      onClose();
    },
  });
  return (
    <RenameForm
      field={field('title')}
      loading={loading}
      isOvertaken={edit.isOvertaken}
      onSubmit={submit}
      onCancel={onClose}
    />
  );
}
