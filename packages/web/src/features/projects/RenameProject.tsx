import { api } from '@stagi/contract/api.ts';
import type { Project } from '@stagi/contract/projects.ts';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useEditVersion } from '../../api/useEditVersion.ts';
import { RenameDialog, RenameForm } from '../../ui/RenameDialog.tsx';

interface Props {
  /** Null: closed. */
  project: Project | null;
  onClose(): void;
}

export function RenameProject({ project, onClose }: Props) {
  return (
    <RenameDialog opened={project !== null} onClose={onClose}>
      {project && <TitleForm project={project} onClose={onClose} />}
    </RenameDialog>
  );
}

function TitleForm({ project: { id, title, version }, onClose }: { project: Project; onClose(): void }) {
  const edit = useEditVersion(version, () => void invalidate('project/'));
  const { field, submit, loading } = useCallForm(api.projects.edit, {
    initialValues: { title },
    toInput: (values) => ({ id, ...values, version: edit.version }),
    onRefused: edit.onRefused,
    onDone: () => {
      void invalidate('project/', 'docker-container/');
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
