import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { refusedFileName } from '@stagi/contract/volumePaths.ts';
import { useState } from 'react';
import { call } from '../../../api/client.ts';
import { errorText } from '../../../api/messages.ts';
import { invalidate } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { parentOf } from '../../../objects/objectNames.ts';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
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
  const title = what === 'file' ? t('New file') : t('New folder');
  return (
    <Dialog opened={what !== null} onClose={onClose} title={title} size="xs">
      <NameForm
        initial=""
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
  const path = pathOf(item ?? '');
  const folder = parentOf(path);
  return (
    <Dialog opened={item !== null} onClose={onClose} title={t('Rename')} size="xs">
      <NameForm
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

interface FormProps {
  initial: string;
  submitLabel: string;
  onClose(): void;
  /** Its refusal is shown at the field. */
  onName(name: string): Promise<void>;
}

function NameForm({ initial, submitLabel, onClose, onName }: FormProps) {
  const t = useT();
  const [name, setName] = useState(initial);
  const [error, setError] = useState<string | null>(null);
  const [loading, setLoading] = useState(false);

  async function submit(): Promise<void> {
    const refusal = refusedFileName(name);
    if (refusal) return setError(t(refusal));
    setLoading(true);
    try {
      await onName(name);
    } catch (cause) {
      if (!(cause instanceof CallError)) throw cause;
      setError(errorText(cause));
    } finally {
      setLoading(false);
    }
  }

  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
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
          data-testid="file-name"
          onChange={({ currentTarget }) => {
            setName(currentTarget.value);
            setError(null);
          }}
        />
        <DialogButtons onCancel={onClose} submitLabel={submitLabel} loading={loading} testId="name-submit" />
      </Stack>
    </Form>
  );
}
