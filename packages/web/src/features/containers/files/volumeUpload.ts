import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { call } from '../../../api/client.ts';
import { errorText } from '../../../api/messages.ts';
import { t } from '../../../i18n/i18n.ts';
import { createLimit } from '../../../uploads/limit.ts';
import { PutError, putBytes } from '../../../uploads/putBytes.ts';
import { withBackOff } from '../../../uploads/retry.ts';
import type { SendOptions, UploadRequest } from '../../../uploads/uploadQueue.ts';
import type { VolumeRef } from './volumeObjects.ts';

/** One request carries so much: after a lost connection at most this is sent again. */
const PART_BYTES = 16 * 1024 * 1024;
const putAtOnce = createLimit(3);

/** The queue of a container. */
export const placeOfContainer = (id: number): string => `container/${id}`;

interface Given {
  of: VolumeRef;
  path: string;
  file: File;
  replace: boolean;
}

/** A file on its way into a volume. */
export function volumeUpload({ of, path, file, replace }: Given): UploadRequest {
  return {
    place: placeOfContainer(of.id),
    key: path,
    file,
    send: (options) => send({ of, path, file, replace }, options),
    async giveUp(uploadId) {
      await call(api.volumeFiles.discardUpload, { ...of, path, uploadId }, { quiet: true });
    },
    errorText: uploadErrorText,
    changes: [api.volumeFiles.list.path],
  };
}

async function send({ of, path, file, replace }: Given, options: SendOptions): Promise<void> {
  const { signal, onProgress } = options;
  const asked = { ...of, path, sizeBytes: file.size, replace };
  const ask = (uploadId?: string) => call(api.volumeFiles.upload, { ...asked, uploadId }, { quiet: true, signal });
  const begun = await withBackOff(signal, () => ask(options.uploadId ?? undefined));
  const { uploadId } = begun;
  let { link, offset } = begun;
  options.onBegun(uploadId);
  for (let isDone = false; !isDone; ) {
    await putAtOnce(() =>
      withBackOff(signal, async (attempt) => {
        if (attempt > 0) {
          const sentAll = offset + PART_BYTES >= file.size;
          ({ link, offset } = await ask(uploadId));
          // The answer to the last part was lost.
          if (sentAll && offset === 0 && (await isThere(of, path, file.size, signal))) {
            isDone = true;
            return;
          }
        }
        const end = Math.min(offset + PART_BYTES, file.size);
        const { pathname } = new URL(link);
        await putBytes(`${pathname}?at=${offset}`, file.slice(offset, end), {
          signal,
          onProgress: (bytes) => onProgress(offset + Math.min(bytes, end - offset)),
        });
        offset = end;
        isDone = end === file.size;
      }),
    );
    onProgress(offset);
  }
}

async function isThere(of: VolumeRef, path: string, sizeBytes: number, signal: AbortSignal): Promise<boolean> {
  try {
    const { entry } = await call(api.volumeFiles.view, { ...of, path }, { quiet: true, signal });
    return entry.kind === 'file' && entry.sizeBytes === sizeBytes;
  } catch (error) {
    if (error instanceof CallError && error.status === 404) return false;
    throw error;
  }
}

function uploadErrorText(error: unknown): string {
  if (!(error instanceof PutError)) return errorText(error);
  if (error.reason !== null) return t(error.reason);
  return t('The connection was lost, or the file has changed on the disk');
}
