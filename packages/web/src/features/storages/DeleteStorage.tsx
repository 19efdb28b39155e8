import { api } from '@stagi/contract/api.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { invalidate, q } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { formatDecimalBytes } from '../../ui/format.ts';
import { toast } from '../../ui/toasts.ts';

interface Props {
  /** Null: closed. */
  storage: Storage | null;
  onClose(): void;
  onDeleted?(): void;
}

const COUNT_ONLY = { limit: 1 };

/** Says what is lost with a storage, and asks for its Unique ID. */
export function DeleteStorage({ storage, onClose, onDeleted }: Props) {
  const t = useT();
  // Kept while the dialog closes.
  const [kept, setKept] = useState(storage);
  if (storage !== null && storage !== kept) setKept(storage);
  const opened = storage !== null;
  const id = kept?.id ?? 0;
  const reads = { enabled: opened && storage.status === 'rented' };
  const keys = useQuery({
    ...q(api.storages.keys, { id, entityFilterRequest: COUNT_ONLY }, { quiet: true }),
    ...reads,
  });
  const links = useQuery({
    ...q(api.sharing.shareLinks, { id, entityFilterRequest: COUNT_ONLY }, { quiet: true }),
    ...reads,
  });
  // Events of tasks do not reload storages.
  const now = useQuery({ ...q(api.storages.view, { id }, { quiet: true }), ...reads, refetchOnMount: 'always' });
  const { run, loading } = useCall(api.storages.delete, {
    onDone: () => {
      void invalidate('storage/', 'billing/');
      toast.success(t('The storage is being deleted'));
      onClose();
      onDeleted?.();
    },
  });
  if (!kept) return null;
  return (
    <ConfirmDialog
      variant="error"
      opened={opened}
      onClose={onClose}
      onConfirm={() => void run({ id: kept.id, slugTyped: kept.slug })}
      title={t('Delete “{{title}}”?', { title: kept.title })}
      typeSlug={kept.slug}
      lost={lost(kept)}
      confirmLabel={t('Delete')}
      loading={loading}
    >
      {t('It is billed until now. This cannot be undone.')}
    </ConfirmDialog>
  );

  function lost({ objectCount, usedBytes }: Storage): string[] {
    const keyCount = keys.data?.totalCount ?? 0;
    const linkCount = links.data?.totalCount ?? 0;
    const taskCount = now.data?.entity.taskCount ?? 0;
    return [
      ...(objectCount > 0
        ? [t('{{count}} objects, {{size}}', { count: objectCount, size: formatDecimalBytes(usedBytes) })]
        : []),
      ...(keyCount > 0 ? [t('{{count}} access keys: what uses them stops working', { count: keyCount })] : []),
      ...(linkCount > 0 ? [t('{{count}} links to its objects', { count: linkCount })] : []),
      ...(taskCount > 0 ? [t('{{count}} unfinished tasks: they are canceled', { count: taskCount })] : []),
      t('The name of its bucket: others may take it'),
    ];
  }
}
