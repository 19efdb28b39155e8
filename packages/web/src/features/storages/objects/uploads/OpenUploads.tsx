import { api } from '@stagi/contract/api.ts';
import type { OpenUpload, Storage } from '@stagi/contract/storages.ts';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { invalidate, q } from '../../../../api/query.ts';
import { useCall } from '../../../../api/useCall.ts';
import { useT } from '../../../../i18n/i18n.ts';
import { fileNameOf } from '../../../../objects/objectNames.ts';
import { Button } from '../../../../ui/Button.tsx';
import { CutText } from '../../../../ui/CutText.tsx';
import { formatBytes } from '../../../../ui/format.ts';
import { Note } from '../../../../ui/Note.tsx';
import { DateTime } from '../../../../ui/Time.tsx';
import { addUploads, uploadIdsUnderWay, useUploads } from '../../../../uploads/uploadQueue.ts';
import classes from '../Objects.module.css';
import { resumePlan } from './parts.ts';
import { placeOfStorage, storageUpload } from './storageUpload.ts';
import { forgetUpload, rememberedUpload } from './uploadMemory.ts';

/** Uploads in parts that nobody completed, other than those under way on this page. */
export function useOpenUploads(storage: Storage, enabled: boolean): OpenUpload[] {
  const { data } = useQuery({ ...q(api.storages.openMultiparts, { id: storage.id }, { quiet: true }), enabled });
  // Read again when the queue changes.
  useUploads(placeOfStorage(storage.id));
  const busy = uploadIdsUnderWay();
  return data?.uploads.filter(({ uploadId }) => !busy.has(uploadId)) ?? [];
}

/** Uploads that a reload or a lost connection has interrupted: the same file again sends only what is missing. */
export function OpenUploads({ storage, uploads }: { storage: Storage; uploads: readonly OpenUpload[] }) {
  const t = useT();
  if (uploads.length === 0) return null;
  return (
    <div className={classes.gap} data-testid="open-uploads">
      <Note title={t('{{count}} uploads were interrupted', { count: uploads.length })}>
        {t('Choose the same file again to send only what is missing. What is stored of them counts as used.')}
        <ul className={classes.links}>
          {uploads.map((upload) => (
            <Interrupted key={upload.uploadId} storage={storage} upload={upload} />
          ))}
        </ul>
      </Note>
    </div>
  );
}

function Interrupted({ storage, upload }: { storage: Storage; upload: OpenUpload }) {
  const t = useT();
  const input = useRef<HTMLInputElement>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const { key, uploadId, parts, startedAt } = upload;
  const known = rememberedUpload(uploadId);
  const stored = formatBytes(parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
  const { run, loading } = useCall(api.storages.abortMultipart, {
    onDone() {
      forgetUpload(uploadId);
      void invalidate('storage/object/multipart-list', 'storage/view');
    },
  });

  function resume(file: File): void {
    const isSame = known ? known.sizeBytes === file.size : resumePlan(file.size, parts) !== null;
    if (file.name !== fileNameOf(key) || !isSame) {
      setRefusal(t('“{{name}}” is another file: its name or size differs.', { name: file.name }));
      return;
    }
    setRefusal(null);
    addUploads([storageUpload({ storageId: storage.id, key, file, uploadId })]);
  }

  return (
    <li data-testid="open-upload">
      <div>
        <CutText className={`mono ${classes.key}`}>{key}</CutText>
        <div className="muted">
          {known
            ? t('{{done}} of {{all}}', { done: stored, all: formatBytes(known.sizeBytes) })
            : t('{{size}} stored', { size: stored })}
          {' · '}
          <DateTime at={startedAt} />
        </div>
        {refusal && <div role="alert">{refusal}</div>}
      </div>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t('Choose the file of {{name}}', { name: key })}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          currentTarget.value = '';
          if (file) resume(file);
        }}
      />
      <Button color="gray" size="xxs" onClick={() => input.current?.click()}>
        {t('Choose the file')}
      </Button>
      <Button
        color="danger"
        look="soft"
        size="xxs"
        loading={loading}
        onClick={() => void run({ id: storage.id, key, uploadId })}
      >
        {t('Discard')}
      </Button>
    </li>
  );
}
