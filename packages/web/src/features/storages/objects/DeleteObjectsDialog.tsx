import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { call } from '../../../api/client.ts';
import { errorText } from '../../../api/messages.ts';
import { invalidate } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import type { Row } from '../../../objects/useFolder.ts';
import { ConfirmDialog } from '../../../ui/dialogs/ConfirmDialog.tsx';
import { formatBytes } from '../../../ui/format.ts';
import { toast } from '../../../ui/toasts.ts';

interface Props {
  storage: Storage;
  /** Null: closed. */
  rows: readonly Row[] | null;
  onClose(): void;
  onDone(): void;
}

const LISTED = 6;
const KEYS_AT_ONCE = 1_000;
/** More are not counted before: the answer would take long, and "more than" says enough. */
const COUNTED = 10_000;

/** Deletes objects and whole folders, with what it deletes counted before, and the progress while it does. */
export function DeleteObjectsDialog({ storage, rows, onClose, onDone }: Props) {
  const t = useT();
  const shown = useRef<readonly Row[]>([]);
  if (rows) shown.current = rows;
  const asked = shown.current;
  const { data: found, error } = useQuery({
    queryKey: ['storage/object/count', storage.id, asked.map(({ key }) => key)],
    queryFn: ({ signal }) => countObjects(storage.id, asked, signal),
    enabled: rows !== null,
    gcTime: 0,
    staleTime: 0,
    meta: { quiet: true },
  });
  const [deleted, setDeleted] = useState<number | null>(null);
  const ending = useRef<AbortController>(null);

  async function remove(): Promise<void> {
    ending.current = new AbortController();
    setDeleted(0);
    try {
      const count = await deleteRows(storage.id, asked, setDeleted, ending.current.signal);
      toast.success(t('{{count}} objects have been deleted', { count }));
      onDone();
    } catch (cause) {
      if (!(cause instanceof CallError)) throw cause;
      if (cause.status !== 499) toast.error(errorText(cause), t('deletion error'));
    } finally {
      setDeleted(null);
      void invalidate('storage/object/list', 'storage/view');
      onClose();
    }
  }

  const names = asked.map(({ key }) => key);
  const more = names.length - LISTED;
  return (
    <ConfirmDialog
      opened={rows !== null}
      onClose={() => {
        ending.current?.abort();
        if (deleted === null) onClose();
      }}
      onConfirm={() => void remove()}
      variant="error"
      title={asked.length === 1 ? t('Delete “{{title}}”?', { title: names[0] ?? '' }) : t('Delete the selection?')}
      confirmLabel={t('Delete')}
      cancelLabel={deleted === null ? undefined : t('Stop')}
      loading={deleted !== null || (found === undefined && !error)}
      lost={[...names.slice(0, LISTED), ...(more > 0 ? [t('and {{count}} more', { count: more })] : [])]}
    >
      <span data-testid="delete-count" role="status">
        {words()}
      </span>
    </ConfirmDialog>
  );

  function words(): string {
    if (deleted !== null) {
      if (found && !found.isMore) return t('{{done}} of {{all}} deleted', { done: deleted, all: found.count });
      return t('{{count}} objects have been deleted', { count: deleted });
    }
    if (error) return t('How many objects this deletes could not be counted.');
    if (!found) return t('Counting…');
    const size = formatBytes(found.bytes);
    return found.isMore
      ? t('This deletes more than {{count}} objects for good.', { count: found.count })
      : t('This deletes {{count}} objects ({{size}}) for good.', { count: found.count, size });
  }
}

async function countObjects(id: number, rows: readonly Row[], signal: AbortSignal) {
  const objects = rows.flatMap((row) => (row.kind === 'object' ? [row.object] : []));
  const found = { count: objects.length, bytes: objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) };
  for (const row of rows) {
    if (row.kind !== 'folder') continue;
    let after: string | undefined;
    do {
      if (found.count >= COUNTED) return { ...found, isMore: true };
      const input = { id, prefix: row.key, folders: false, after, limit: KEYS_AT_ONCE };
      const page = await call(api.storages.objects, input, { quiet: true, signal });
      found.count += page.objects.length;
      found.bytes += page.objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      after = page.next ?? undefined;
    } while (after !== undefined);
  }
  return { ...found, isMore: false };
}

async function deleteRows(
  id: number,
  rows: readonly Row[],
  onProgress: (deleted: number) => void,
  signal: AbortSignal,
): Promise<number> {
  let all = 0;
  const step = async (input: { keys: string[] } | { prefix: string }): Promise<boolean> => {
    const { deleted, isMore } = await call(api.storages.deleteObjects, { id, ...input }, { quiet: true, signal });
    all += deleted;
    onProgress(all);
    return isMore;
  };
  const keys = rows.flatMap(({ kind, key }) => (kind === 'object' ? [key] : []));
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) await step({ keys: keys.slice(at, at + KEYS_AT_ONCE) });
  for (const { kind, key } of rows) if (kind === 'folder') while (await step({ prefix: key }));
  return all;
}
