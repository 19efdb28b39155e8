import { api } from '@stagi/contract/api.ts';
import { text } from '@stagi/contract/text.ts';
import { call } from '../../../../api/client.ts';
import { errorText } from '../../../../api/messages.ts';
import { t } from '../../../../i18n/i18n.ts';
import { PutError } from '../../../../uploads/putBytes.ts';
import type { UploadRequest } from '../../../../uploads/uploadQueue.ts';
import { type FileToSend, sendFile } from './sendFile.ts';
import { forgetUpload } from './uploadMemory.ts';

/** The queue of a storage. */
export const placeOfStorage = (storageId: number): string => `storage/${storageId}`;

/** A file on its way to a storage. */
export function storageUpload({ uploadId, ...what }: FileToSend & { uploadId?: string }): UploadRequest {
  const { storageId, key, file } = what;
  return {
    place: placeOfStorage(storageId),
    key,
    file,
    uploadId,
    send: (options) => sendFile(what, options),
    // Where it fails the upload stays among the interrupted ones, which can be discarded there.
    async giveUp(begun) {
      await call(api.storages.abortMultipart, { id: storageId, key, uploadId: begun }, { quiet: true });
      forgetUpload(begun);
    },
    errorText: uploadErrorText,
    changes: ['storage/object/list', 'storage/object/multipart-list', 'storage/view'],
  };
}

const FULL = text('The storage is full: make it larger or delete objects');

function uploadErrorText(error: unknown): string {
  if (!(error instanceof PutError)) return errorText(error);
  if (error.code === 'QuotaExceeded') return t(FULL);
  if (error.status === 0) return t('The connection was lost, or the file has changed on the disk');
  return t('The storage refused it: {{code}}', { code: error.code ?? String(error.status) });
}
