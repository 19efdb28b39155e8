import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { refusedFileName } from '@stagi/contract/volumePaths.ts';
import { call } from '../../../api/client.ts';
import { errorText } from '../../../api/messages.ts';
import { invalidate } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { NameForm } from '../../../objects/NameForm.tsx';
import { parentOf } from '../../../objects/objectNames.ts';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { pathOf, type VolumeRef } from './volumeObjects.ts';

interface NewProps {
  of: VolumeRef;
  folder: string;
  /** What is made; null: closed. */
  what: 'folder' | 'file' | null;
  onClose(): void;
  onMade(key: string): void;
}

/** Makes an empty folder or file. */
export function NewDialog({ of, folder, what, onClose, onMade }: NewProps) {
  const t = useT();
  const refusals = useNameRefusals();
  const title = what === 'file' ? t('New file') : t('New folder');
  return (
    <Dialog opened={what !== null} onClose={onClose} title={title} size="xs">
      <NameForm
        {...refusals}
        submitLabel={what === 'file' ? t('Create file') : t('Create folder')}
        onClose={onClose}
        onName={async (name) => {
          const path = folder + name;
          if (what === 'file')
            await call(api.volumeFiles.write, { ...of, path, text: '', etag: null }, { quiet: true });
          else await call(api.volumeFiles.mkdir, { ...of, path }, { quiet: true });
          await invalidate(api.volumeFiles.list.path);
          onMade(what === 'file' ? path : `${path}/`);
        }}
      />
    </Dialog>
  );
}

interface RenameProps {
  of: VolumeRef;
  /** Null: closed. */
  item: string | null;
  onClose(): void;
  onRenamed(): void;
}

export function RenameFileDialog({ of, item, onClose, onRenamed }: RenameProps) {
  const t = useT();
  const refusals = useNameRefusals();
  const path = pathOf(item ?? '');
  const folder = parentOf(path);
  return (
    <Dialog opened={item !== null} onClose={onClose} title={t('Rename')} size="xs">
      <NameForm
        {...refusals}
        initial={path.slice(folder.length)}
        submitLabel={t('Save')}
        onClose={onClose}
        onName={async (name) => {
          const newPath = folder + name;
          if (newPath !== path) await call(api.volumeFiles.rename, { ...of, path, newPath }, { quiet: true });
          await invalidate(api.volumeFiles.list.path);
          onRenamed();
        }}
      />
    </Dialog>
  );
}

/** What refuses the name of a file or folder. */
function useNameRefusals() {
  const t = useT();
  return {
    check(name: string): string | null {
      const refusal = refusedFileName(name);
      return refusal === null ? null : t(refusal);
    },
    errorText: (cause: unknown): string | null => (cause instanceof CallError ? errorText(cause) : null),
  };
}
