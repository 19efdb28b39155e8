import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { useState } from 'react';
import { call } from '../../../api/client.ts';
import { invalidate } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { isTooLong } from '../../../objects/objectNames.ts';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { PutError, putBytes } from '../../../uploads/putBytes.ts';

interface Props {
  storage: Storage;
  folder: string;
  opened: boolean;
  onClose(): void;
  onMade(prefix: string): void;
}

/** A folder is an empty object whose key ends in `/`, so that it is there before anything is in it. */
export function NewFolderDialog({ opened, onClose, ...form }: Props) {
  const t = useT();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('New folder')} size="xs">
      <NewFolderForm {...form} onClose={onClose} />
    </Dialog>
  );
}

function NewFolderForm({ storage, folder, onClose, onMade }: Omit<Props, 'opened'>) {
  const t = useT();
  const [name, setName] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [loading, setLoading] = useState(false);
  const prefix = `${folder}${name}/`;

  async function make(): Promise<void> {
    setLoading(true);
    try {
      const { link } = await call(api.storages.uploadLink, { id: storage.id, key: prefix });
      await putBytes(link, new Blob([]), { signal: new AbortController().signal, onProgress: () => {} });
      await invalidate('storage/object/list');
      onMade(prefix);
    } catch (cause) {
      if (cause instanceof PutError)
        setError(t('The storage refused it: {{code}}', { code: cause.code ?? cause.status }));
      else if (cause instanceof CallError) setError(t('The folder could not be created'));
      else throw cause;
    } finally {
      setLoading(false);
    }
  }

  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        if (name === '') setError(t('Name is required'));
        else if (isTooLong(prefix)) setError(t('A key has at most 1,024 bytes'));
        else void make();
      }}
    >
      <Stack gap={16}>
        <TextInput
          label={t('Name')}
          value={name}
          error={error}
          autoComplete="off"
          spellCheck={false}
          classNames={{ input: 'mono' }}
          data-autofocus
          onChange={({ currentTarget }) => {
            setName(currentTarget.value);
            setError(null);
          }}
        />
        <DialogButtons onCancel={onClose} submitLabel={t('Create folder')} loading={loading} testId="folder-submit" />
      </Stack>
    </Form>
  );
}
