import { api } from '@stagi/contract/api.ts';
import { storageCan } from '@stagi/contract/storageRules.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { text } from '@stagi/contract/text.ts';
import { IconArrowsDiagonal, IconPencil, IconTrash } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import { call } from '../../api/client.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { type RowActions, useRowActions } from '../../lists/useRowActions.tsx';
import { RenameTitle } from '../../rename/RenameTitle.tsx';
import { formatDecimalBytes } from '../../ui/format.ts';
import { DeleteStorage } from './DeleteStorage.tsx';

/** Code of its own: a page of a storage does not wait for it. */
const ResizeStorage = lazyComponent(async () => (await import('./ResizeStorage.tsx')).ResizeStorage);

type Opened = 'resize' | 'rename' | 'delete';

/** Resize, rename, delete. */
export function useStorageActions({ onDeleted }: { onDeleted?(): void } = {}): RowActions<Storage> {
  const t = useT();
  const [opened, setOpened] = useState<{ dialog: Opened; storage: Storage; isOpen: boolean } | null>(null);
  const open = (dialog: Opened) => (storage: Storage) => setOpened({ dialog, storage, isOpen: true });
  const close = () => setOpened((last) => last && { ...last, isOpen: false });
  const actions = useRowActions<Storage>(
    [
      {
        name: 'resize',
        label: t('Resize'),
        icon: IconArrowsDiagonal,
        can: storageCan.resize,
        open: open('resize'),
      },
      {
        name: 'rename',
        label: t('Rename'),
        icon: IconPencil,
        can: ({ status }) =>
          status === 'terminating' || status === 'deleted'
            ? { allowed: false, reason: text('This storage is already being deleted') }
            : { allowed: true },
        open: open('rename'),
      },
      {
        name: 'delete',
        label: t('Delete'),
        icon: IconTrash,
        danger: true,
        can: storageCan.delete,
        open: open('delete'),
      },
      {
        name: 'delete-selected',
        label: t('Delete'),
        icon: IconTrash,
        danger: true,
        can: storageCan.delete,
        // A single one is deleted by the dialog that counts its keys and links.
        shown: () => false,
        perform: ({ id, slug }, options) => call(api.storages.delete, { id, slugTyped: slug }, options),
        many: {
          confirm: (storages) => ({
            title: t('Delete {{count}} storages?', { count: storages.length }),
            text: t('All their objects, keys and links are lost. This cannot be undone.'),
            names: storages.map(
              ({ title, slug, objectCount, usedBytes }) =>
                `${title} (${slug}): ${t('{{count}} objects, {{size}}', {
                  count: objectCount,
                  size: formatDecimalBytes(usedBytes),
                })}`,
            ),
            typeWord: 'delete',
          }),
          success: (count) => t('{{count}} storages are being deleted', { count }),
        },
      },
    ],
    ['storage/', 'billing/'],
  );
  return {
    ...actions,
    dialog: (
      <>
        {actions.dialog}
        {opened?.dialog === 'resize' && (
          <Suspense>
            <ResizeStorage storage={of('resize')} onClose={close} />
          </Suspense>
        )}
        <RenameTitle edit={api.storages.edit} titled={of('rename')} shownBy={['storage/']} onClose={close} />
        <DeleteStorage storage={of('delete')} onClose={close} onDeleted={onDeleted} />
      </>
    ),
  };

  function of(dialog: Opened): Storage | null {
    return opened?.isOpen && opened.dialog === dialog ? opened.storage : null;
  }
}
