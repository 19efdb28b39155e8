import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { OpenUpload } from '@stagi/contract/storages.ts';
import { call } from '../../../../api/client.ts';
import { createLimit } from '../../../../uploads/limit.ts';
import { PutError, putBytes } from '../../../../uploads/putBytes.ts';
import { withBackOff } from '../../../../uploads/retry.ts';
import type { SendOptions } from '../../../../uploads/uploadQueue.ts';
import { matchingParts } from './matchingParts.ts';
import { createPartLinks } from './partLinks.ts';
import { type Part, partsOf, resumePlan, SENT_WHOLE_UP_TO } from './parts.ts';
import { forgetUpload, rememberedUpload, rememberUpload } from './uploadMemory.ts';

export interface FileToSend {
  storageId: number;
  key: string;
  file: File;
}

/** A browser opens six connections to one host; the app's own calls go elsewhere. */
const putAtOnce = createLimit(4);
const PARTS_AT_ONCE = 3;

/** Stores a file as an object, straight at the S3 service. Repeats what fails for a passing reason. */
export function sendFile(what: FileToSend, options: SendOptions): Promise<void> {
  const isWhole = what.file.size <= SENT_WHOLE_UP_TO && options.uploadId === null;
  return isWhole ? sendWhole(what, options) : sendInParts(what, options);
}

function sendWhole({ storageId, key, file }: FileToSend, { signal, onProgress }: SendOptions): Promise<void> {
  return putAtOnce(() =>
    withBackOff(signal, async () => {
      const { link } = await call(api.storages.uploadLink, { id: storageId, key }, { quiet: true, signal });
      await putBytes(link, file, { signal, onProgress, contentType: file.type });
    }),
  );
}

async function sendInParts(what: FileToSend, options: SendOptions): Promise<void> {
  const { storageId: id, key, file } = what;
  const { signal } = options;
  const resumed = options.uploadId === null ? null : await resume(what, options.uploadId, options);
  const begun = resumed ?? (await begin(what, options));
  const { uploadId, partBytes } = begun;
  rememberUpload({ uploadId, partBytes, sizeBytes: file.size, lastModified: file.lastModified });
  options.onBegun(uploadId);

  const sent = new Map(begun.stored.map((part) => [part.number, part.end - part.start]));
  const report = () => options.onProgress([...sent.values()].reduce((sum, bytes) => sum + bytes, 0));
  report();
  const missing = partsOf(file.size, partBytes).filter(({ number }) => !sent.has(number));
  const linkOf = createPartLinks(
    { id, key, uploadId },
    missing.map(({ number }) => number),
  );
  // One part that fails for good ends the others.
  const ending = new AbortController();
  const ended = AbortSignal.any([signal, ending.signal]);
  const turn = createLimit(PARTS_AT_ONCE);
  try {
    await Promise.all(missing.map((part) => turn(() => putAtOnce(() => sendPart(part)))));
  } catch (error) {
    ending.abort(error);
    throw error;
  }
  await complete(what, uploadId, signal);
  forgetUpload(uploadId);

  async function sendPart({ number, start, end }: Part): Promise<void> {
    let wasRefused = false;
    await withBackOff(ended, async () => {
      const link = await linkOf(number, wasRefused, ended);
      const onProgress = (bytes: number) => {
        sent.set(number, Math.min(bytes, end - start));
        report();
      };
      try {
        await putBytes(link, file.slice(start, end), { signal: ended, onProgress });
        onProgress(end - start);
      } catch (error) {
        wasRefused = error instanceof PutError && error.status === 403;
        onProgress(0);
        throw error;
      }
    });
  }
}

interface Begun {
  uploadId: string;
  partBytes: number;
  stored: Part[];
}

async function begin({ storageId, key, file }: FileToSend, { signal }: SendOptions): Promise<Begun> {
  const { uploadId, partBytes } = await withBackOff(signal, () =>
    call(
      api.storages.beginMultipart,
      { id: storageId, key, sizeBytes: file.size, contentType: file.type || undefined },
      { quiet: true, signal },
    ),
  );
  return { uploadId, partBytes, stored: [] };
}

/** What is stored of an earlier attempt; null when it is gone or holds another file. */
async function resume(what: FileToSend, uploadId: string, options: SendOptions): Promise<Begun | null> {
  const { storageId: id, key, file } = what;
  const { signal } = options;
  options.onChecking(true);
  try {
    const found = await findOpenUpload(id, key, uploadId, signal);
    const remembered = rememberedUpload(uploadId);
    const plan = found ? resumePlan(file.size, found.parts, remembered?.partBytes) : null;
    if (!plan) return null;
    const stored = await matchingParts(file, plan.stored, { remembered, signal });
    return { uploadId, partBytes: plan.partBytes, stored };
  } finally {
    options.onChecking(false);
  }
}

async function findOpenUpload(
  id: number,
  key: string,
  uploadId: string,
  signal: AbortSignal,
): Promise<OpenUpload | undefined> {
  const { uploads } = await withBackOff(signal, () =>
    call(api.storages.openMultiparts, { id, key }, { quiet: true, signal }),
  );
  return uploads.find((upload) => upload.uploadId === uploadId);
}

async function complete({ storageId: id, key, file }: FileToSend, uploadId: string, signal: AbortSignal) {
  await withBackOff(signal, async (attempt) => {
    try {
      await call(api.storages.completeMultipart, { id, key, uploadId }, { quiet: true, signal });
    } catch (error) {
      // The answer of an earlier attempt may have been lost after the object was made.
      const isGone = error instanceof CallError && error.status === 404;
      if (!(attempt > 0 && isGone && (await isStored(id, key, file.size, signal)))) throw error;
    }
  });
}

async function isStored(id: number, key: string, sizeBytes: number, signal: AbortSignal): Promise<boolean> {
  const page = await call(api.storages.objects, { id, prefix: key, folders: false, limit: 1 }, { quiet: true, signal });
  const object = page.objects.find((one) => one.key === key);
  return object?.sizeBytes === sizeBytes && object.etag.includes('-');
}
