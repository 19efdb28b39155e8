import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { useRef, useState } from 'react';
import { call } from '../../../api/client.ts';
import { errorText } from '../../../api/messages.ts';
import { invalidate } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import type { Row } from '../../../objects/useFolder.ts';
import { ConfirmDialog } from '../../../ui/dialogs/ConfirmDialog.tsx';
import { toast } from '../../../ui/toasts.ts';
import { pathOf, type VolumeRef } from './volumeObjects.ts';

interface Props {
  of: VolumeRef;
  /** Null: closed. */
  rows: readonly Row[] | null;
  onClose(): void;
  onDone(): void;
}

const LISTED = 6;

/** Deletes files, and folders with all that is in them, for good. */
export function DeleteFilesDialog({ of, rows, onClose, onDone }: Props) {
  const t = useT();
  const shown = useRef<readonly Row[]>([]);
  if (rows) shown.current = rows;
  const names = shown.current.map(({ key }) => key);
  const more = names.length - LISTED;
  const hasFolder = shown.current.some(({ kind }) => kind === 'folder');
  const [deleted, setDeleted] = useState<number | null>(null);
  const isStopped = useRef(false);

  async function remove(): Promise<void> {
    let count = 0;
    isStopped.current = false;
    setDeleted(0);
    try {
      for (const name of names) {
        for (let isMore = true; isMore && !isStopped.current; ) {
          const answer = await call(api.volumeFiles.delete, { ...of, path: pathOf(name) }, { quiet: true });
          ({ isMore } = answer);
          count += answer.deleted;
          setDeleted(count);
        }
      }
      await invalidate(api.volumeFiles.list.path);
      toast.success(t('Files and folders deleted: {{done}}', { done: count }));
      onDone();
    } catch (cause) {
      if (!(cause instanceof CallError)) throw cause;
      toast.error(errorText(cause), t('deletion error'));
      void invalidate(api.volumeFiles.list.path);
    } finally {
      setDeleted(null);
      onClose();
    }
  }

  return (
    <ConfirmDialog
      opened={rows !== null}
      onClose={() => {
        isStopped.current = true;
        if (deleted === null) onClose();
      }}
      onConfirm={() => void remove()}
      variant="error"
      title={names.length === 1 ? t('Delete “{{title}}”?', { title: names[0] ?? '' }) : t('Delete the selection?')}
      confirmLabel={t('Delete')}
      cancelLabel={deleted === null ? undefined : t('Stop')}
      loading={deleted !== null}
      lost={[...names.slice(0, LISTED), ...(more > 0 ? [t('and {{count}} more', { count: more })] : [])]}
    >
      <span role="status">
        {deleted !== null && deleted > 0
          ? t('Files and folders deleted: {{done}}', { done: deleted })
          : hasFolder
            ? t('Folders are deleted with all that is in them. The container loses these files at once.')
            : t('The container loses these files at once.')}
      </span>
    </ConfirmDialog>
  );
}
