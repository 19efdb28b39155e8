import { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import type { Project } from '@stagi/contract/projects.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../../api/messages.ts';
import { invalidate, q } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { VariantTitle } from '../../ui/dialogs/VariantTitle.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { formatDecimalBytes } from '../../ui/format.ts';
import { Note } from '../../ui/Note.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import { toast } from '../../ui/toasts.ts';

type Deletion = OutputOf<typeof api.projects.viewDeletion>;

interface Props {
  /** Null: closed. */
  project: Project | null;
  onClose(): void;
  onDeleted?(): void;
}

/** Names what dies with a project, and asks for its Unique ID. */
export function DeleteProject({ project, onClose, onDeleted }: Props) {
  const t = useT();
  // Kept while the dialog closes.
  const [kept, setKept] = useState(project);
  if (project !== null && project !== kept) setKept(project);
  const opened = project !== null;
  const deletion = useQuery({
    ...q(api.projects.viewDeletion, { id: kept?.id ?? 0 }, { quiet: true }),
    enabled: opened,
    // What is named must be what dies.
    refetchOnMount: 'always',
    gcTime: 0,
  });
  const { run, loading } = useCall(api.projects.delete, {
    onDone: () => {
      void invalidate('project/', 'docker-container/');
      toast.success(t('The project is being deleted'));
      onClose();
      onDeleted?.();
    },
  });
  if (!kept) return null;
  const title = t('Delete “{{title}}”?', { title: kept.title });
  const { data, error, isFetching, refetch } = deletion;
  if (data?.refusal !== null) {
    return (
      <Dialog opened={opened} onClose={onClose} title={<VariantTitle variant="error">{title}</VariantTitle>}>
        {data ? (
          <Note tone="warn" title={t('It cannot be deleted now')}>
            {t(data.refusal)}
          </Note>
        ) : error ? (
          <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />
        ) : (
          <PanelSkeleton rows={3} />
        )}
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      variant="error"
      opened={opened}
      onClose={onClose}
      onConfirm={() => void run({ id: kept.id, slugTyped: kept.slug })}
      title={title}
      typeSlug={kept.slug}
      lost={lost(data)}
      confirmLabel={t('Delete')}
      loading={loading}
    >
      {t('Servers and storages stay. This cannot be undone.')}
    </ConfirmDialog>
  );

  function lost({ sizeBytes, containers, containerCount, taskCount }: Deletion): string[] {
    const more = containerCount - containers.length;
    return [
      t('The repository with all branches and tags, {{size}}', { size: formatDecimalBytes(sizeBytes) }),
      ...containers.map(({ title, slug, instance }) =>
        t('The container “{{title}}” ({{slug}}) on {{server}}', { title, slug, server: instance.title }),
      ),
      ...(more > 0 ? [t('{{count}} more containers', { count: more })] : []),
      ...(taskCount > 0 ? [t('{{count}} tasks', { count: taskCount })] : []),
    ];
  }
}
