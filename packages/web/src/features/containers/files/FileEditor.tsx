import { Skeleton, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { MAX_EDITED_BYTES } from '@stagi/contract/volumeFiles.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/client.ts';
import { errorText } from '../../../api/messages.ts';
import { invalidate } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { GuardedDialog } from '../../../navigation/GuardedDialog.tsx';
import { fileNameOf } from '../../../objects/objectNames.ts';
import { Button } from '../../../ui/Button.tsx';
import { CutText } from '../../../ui/CutText.tsx';
import { DialogButtons } from '../../../ui/dialogs/DialogButtons.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { Textarea } from '../../../ui/form/Textarea.tsx';
import { Note } from '../../../ui/Note.tsx';
import { toast } from '../../../ui/toasts.ts';
import type { VolumeRef } from './volumeObjects.ts';

interface Props {
  of: VolumeRef;
  /** Null: closed. */
  path: string | null;
  onClose(): void;
}

/** A text file in a plain editor. Nothing that was typed is lost unasked. */
export function FileEditor({ of, path, onClose }: Props) {
  const t = useT();
  const [isChanged, setChanged] = useState(false);
  const finish = () => {
    setChanged(false);
    onClose();
  };
  const name = fileNameOf(path ?? '');
  return (
    <GuardedDialog
      opened={path !== null}
      onClose={finish}
      title={<CutText>{name}</CutText>}
      size="m"
      atRisk={isChanged && path !== null}
      withSearch
      question={{ title: t('Close without saving?'), lost: t('Your changes to {{name}}', { name }) }}
      testId="file-editor"
    >
      {(close) =>
        path !== null && (
          <Loaded key={path} of={of} path={path} onChanged={setChanged} onClose={close} onSaved={finish} />
        )
      }
    </GuardedDialog>
  );
}

interface LoadedProps {
  of: VolumeRef;
  path: string;
  onChanged(isChanged: boolean): void;
  onClose(): void;
  onSaved(): void;
}

function Loaded(props: LoadedProps) {
  const t = useT();
  const { of, path } = props;
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['file/edited', of.id, of.volume, path],
    queryFn: ({ signal }) => call(api.volumeFiles.read, { ...of, path }, { quiet: true, signal }),
    // What is edited is as it was when the editor opened.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    meta: { quiet: true },
  });
  if (error && !data)
    return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  if (!data) return <Skeleton height={320} />;
  const { content } = data;
  if (content.kind === 'binary') return <Note tone="warn">{t('This file is no text: it cannot be edited here.')}</Note>;
  if (content.isCut) return <Note tone="warn">{t('This file is larger than 1 MiB: download it to edit it.')}</Note>;
  return <Editor {...props} read={data} before={content.text} />;
}

interface EditorProps extends LoadedProps {
  read: OutputOf<typeof api.volumeFiles.read>;
  before: string;
}

function Editor({ of, path, read, before, onChanged, onClose, onSaved }: EditorProps) {
  const t = useT();
  // A text area knows no other line ends: those of the file are put back when it is saved.
  const lineEnd = before.includes('\r\n') ? '\r\n' : '\n';
  const [text, setText] = useState(before.replaceAll('\r\n', '\n'));
  const [etag, setEtag] = useState<string | null>(read.entry.etag);
  const [error, setError] = useState<string | null>(null);
  const [conflict, setConflict] = useState(false);
  const [loading, setLoading] = useState(false);

  async function save(expected: string | null): Promise<void> {
    const written = text.replaceAll('\n', lineEnd);
    if (new TextEncoder().encode(written).length > MAX_EDITED_BYTES)
      return setError(t('The text is too long: at most 1 MiB'));
    setLoading(true);
    setError(null);
    try {
      await call(api.volumeFiles.write, { ...of, path, text: written, etag: expected }, { quiet: true });
      toast.success(t('Saved'));
      void invalidate(api.volumeFiles.list.path);
      onSaved();
    } catch (cause) {
      if (!(cause instanceof CallError)) throw cause;
      if (cause.status === 409) setConflict(true);
      setError(errorText(cause));
    } finally {
      setLoading(false);
    }
  }

  /** The file as it is by now is what is replaced. */
  async function overwrite(): Promise<void> {
    setLoading(true);
    try {
      const { entry } = await call(api.volumeFiles.view, { ...of, path }, { quiet: true });
      setEtag(entry.etag);
      await save(entry.etag);
    } catch (cause) {
      if (!(cause instanceof CallError)) throw cause;
      // It was removed meanwhile: there is nothing to replace.
      if (cause.status === 404) await save(null);
      else setError(errorText(cause));
    } finally {
      setLoading(false);
    }
  }

  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        void save(etag);
      }}
    >
      <Stack gap={16}>
        <Textarea
          aria-label={t('Content of {{name}}', { name: fileNameOf(path) })}
          mono
          minRows={12}
          maxRows={24}
          value={text}
          error={error}
          spellCheck={false}
          autoCapitalize="off"
          data-autofocus
          data-testid="file-text"
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            setError(null);
            onChanged(currentTarget.value !== before.replaceAll('\r\n', '\n'));
          }}
        />
        {conflict && (
          <Note tone="warn" title={t('Somebody else, or the container, has changed this file.')}>
            {t('Your text is still here. Copy what you need, or replace the file with it.')}{' '}
            <Button size="xxs" color="gray" loading={loading} onClick={() => void overwrite()} data-testid="overwrite">
              {t('Replace the file')}
            </Button>
          </Note>
        )}
        <DialogButtons onCancel={onClose} submitLabel={t('Save')} loading={loading} testId="file-save" />
      </Stack>
    </Form>
  );
}
