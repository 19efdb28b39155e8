import type { AdminModel, CatalogueRow } from '@stagi/contract/adminModels.ts';
import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useState } from 'react';
import { errorText } from '../../../api/messages.ts';
import { invalidate, q } from '../../../api/query.ts';
import { useCallForm } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { GuardedDialog } from '../../../navigation/GuardedDialog.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { Note } from '../../../ui/Note.tsx';
import { PanelSkeleton } from '../../../ui/Skeletons.tsx';
import { toast } from '../../../ui/toasts.ts';
import {
  changedFields,
  type Draft,
  draftOf,
  draftOfEntry,
  emptyDraft,
  fieldsOf,
  missingSources,
  sourceRows,
  sourcesOf,
} from './draft.ts';
import { EntryForm } from './EntryForm.tsx';

interface Props {
  edited: CatalogueRow | 'new' | null;
  onClose(): void;
}

/** Adds an entry to the catalogue, or changes one. */
export function EntryDialog({ edited, onClose }: Props) {
  const t = useT();
  const [changed, setChanged] = useState(false);
  const finish = () => {
    setChanged(false);
    onClose();
  };
  return (
    <GuardedDialog
      opened={edited !== null}
      onClose={finish}
      title={edited === 'new' ? t('Add a model') : (edited?.title ?? '')}
      size="m"
      atRisk={changed && edited !== null}
      withSearch
      question={{ title: t('Close without saving?'), lost: t('What you have typed') }}
      testId="entry-dialog"
    >
      {(close) => {
        const form = { onChanged: setChanged, onClose: close, onSaved: finish };
        if (edited === 'new') return <NewEntry {...form} />;
        return edited && <LoadedEntry modelId={edited.modelId} {...form} />;
      }}
    </GuardedDialog>
  );
}

interface FormProps {
  onChanged(changed: boolean): void;
  onClose(): void;
  onSaved(): void;
}

function useAtRisk(draft: Draft, start: Draft, onChanged: (changed: boolean) => void): boolean {
  const isChanged = stateOf(draft) !== stateOf(start);
  // Before the next key, which may be Escape.
  useLayoutEffect(() => onChanged(isChanged), [isChanged, onChanged]);
  return isChanged;
}

/** All that is typed, without the keys of its rows. */
const stateOf = (draft: Draft): string =>
  JSON.stringify([draft.modelId, fieldsOf(draft), sourcesOf(draft.source), draft.note]);

/** The forms show the fields of the calls by their own names; several names of files or capabilities are one text. */
const fieldOf = (path: string): string =>
  path
    .replace(/^fields\./, '')
    .replace(/^(precisions\.\d+)\.(?:variants|filesGi?B)\..*/, '$1.variants')
    .replace(/^capabilities\..*/, 'capabilities');

function NewEntry({ onChanged, onClose, onSaved }: FormProps) {
  const t = useT();
  const [start] = useState(emptyDraft);
  const calls = useCallForm(api.adminModels.create, {
    initialValues: start,
    toInput: (draft) => ({
      modelId: draft.modelId,
      fields: fieldsOf(draft),
      source: sourcesOf(draft.source),
      note: draft.note,
    }),
    fieldOf,
    onDone: ({ entity }) => {
      void invalidate('admin/model/', 'model/');
      toast.success(t('{{title}} has been added to the catalogue', { title: entity.title }));
      onSaved();
    },
  });
  useAtRisk(calls.form.values, start, onChanged);
  return <EntryForm calls={calls} shipped={null} isNew submitLabel={t('Add')} onClose={onClose} />;
}

/** Reads the entry anew at each opening: an edit is made of the newest version. */
function LoadedEntry({ modelId, ...form }: FormProps & { modelId: string }) {
  const { data, error, refetch, isFetching } = useQuery({
    ...q(api.adminModels.view, { modelId }, { quiet: true }),
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  if (data) return <EditEntry entry={data.entity} onReload={async () => (await refetch()).data?.entity} {...form} />;
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  return <PanelSkeleton rows={10} />;
}

interface EditProps extends FormProps {
  entry: AdminModel;
  onReload(): Promise<AdminModel | undefined>;
}

function EditEntry({ entry, onReload, onChanged, onClose, onSaved }: EditProps) {
  const t = useT();
  const [start] = useState(() => draftOf(entry));
  const [version, setVersion] = useState(entry.version);
  const [theirs, setTheirs] = useState<AdminModel | null>(null);
  const calls = useCallForm(api.adminModels.edit, {
    initialValues: start,
    toInput: (draft) => ({
      modelId: entry.modelId,
      version,
      // What somebody else has changed meanwhile stays, unless it was typed here too.
      fields: changedFields(draft, start),
      source: sourcesOf(draft.source),
      note: draft.note,
    }),
    fieldOf,
    onRefused(error) {
      if (error.status !== 409) return false;
      void takeOver();
      return true;
    },
    onDone: ({ entity }) => {
      void invalidate('admin/model/', 'model/');
      toast.success(t('{{title}} has been saved', { title: entity.title }));
      onSaved();
    },
  });
  const isChanged = useAtRisk(calls.form.values, start, onChanged);
  const shipped = entry.shipped ? draftOfEntry(entry.shipped) : null;

  /** What is typed stays; the sources and the version of the others are taken over. */
  async function takeOver(): Promise<void> {
    const newest = await onReload();
    if (!newest) return;
    const { form } = calls;
    form.setValues({
      source: [...form.values.source, ...missingSources(form.values.source, sourceRows(newest.source))],
      ...(form.values.note === start.note && { note: newest.note }),
    });
    setVersion(newest.version);
    setTheirs(newest);
  }

  return (
    <EntryForm
      calls={calls}
      shipped={shipped}
      submitLabel={t('Save')}
      onClose={onClose}
      reason={isChanged ? null : t('Nothing has been changed')}
    >
      {entry.problem && (
        <Note tone="warn" title={t('This change has no effect')}>
          {entry.problem === 'invalid'
            ? t('It no longer fits the entry that this release ships. Change it, or remove it.')
            : t('This release ships the model itself. Remove what operators entered.')}
        </Note>
      )}
      {theirs && (
        <Note tone="warn" title={t('Somebody else has changed this model meanwhile')}>
          {theirs.changed.length > 0
            ? t('Changed now: {{fields}}. Saving again changes only what you have typed.', {
                fields: theirs.changed.join(', '),
              })
            : t('Saving again changes only what you have typed.')}
        </Note>
      )}
    </EntryForm>
  );
}
