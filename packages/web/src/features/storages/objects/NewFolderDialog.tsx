import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { call } from '../../../api/client.ts';
import { invalidate } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { NameForm } from '../../../objects/NameForm.tsx';
import { isTooLong } from '../../../objects/objectNames.ts';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { PutError, putBytes } from '../../../uploads/putBytes.ts';

interface Props {
  storage: Storage;
  folder: string;
  opened: boolean;
  onClose(): void;
  onMade(prefix: string): void;
}

/** A folder is an empty object whose key ends in `/`, so that it is there before anything is in it. */
export function NewFolderDialog({ storage, folder, opened, onClose, onMade }: Props) {
  const t = useT();
  const prefixOf = (name: string): string => `${folder}${name}/`;
  return (
    <Dialog opened={opened} onClose={onClose} title={t('New folder')} size="xs">
      <NameForm
        submitLabel={t('Create folder')}
        onClose={onClose}
        check={(name) => {
          if (name === '') return t('Name is required');
          return isTooLong(prefixOf(name)) ? t('A key has at most 1,024 bytes') : null;
        }}
        onName={async (name) => {
          const prefix = prefixOf(name);
          const { link } = await call(api.storages.uploadLink, { id: storage.id, key: prefix });
          await putBytes(link, new Blob([]), { signal: new AbortController().signal, onProgress: () => {} });
          await invalidate('storage/object/list');
          onMade(prefix);
        }}
        errorText={(cause) => {
          if (cause instanceof PutError)
            return t('The storage refused it: {{code}}', { code: cause.code ?? cause.status });
          return cause instanceof CallError ? t('The folder could not be created') : null;
        }}
      />
    </Dialog>
  );
}
