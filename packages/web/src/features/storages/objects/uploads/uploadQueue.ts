import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { text } from '@stagi/contract/text.ts';
import { useSyncExternalStore } from 'react';
import { call } from '../../../../api/client.ts';
import { errorText } from '../../../../api/messages.ts';
import { invalidate } from '../../../../api/query.ts';
import { t } from '../../../../i18n/i18n.ts';
import { createLimit } from './limit.ts';
import { PutError } from './putBytes.ts';
import { createRate } from './rate.ts';
import { type FileToSend, sendFile } from './sendFile.ts';
import { forgetUpload } from './uploadMemory.ts';

export type UploadState = 'waiting' | 'checking' | 'sending' | 'done' | 'failed' | 'canceled';

/** A file on its way to a storage. */
export interface Upload {
  id: number;
  storageId: number;
  key: string;
  sizeBytes: number;
  state: UploadState;
  sentBytes: number;
  /** Why it failed. */
  error: string | null;
}

export interface UploadRequest extends FileToSend {
  /** Of an open upload in parts to go on with. */
  uploadId?: string;
}

interface Entry {
  shown: Upload;
  what: FileToSend;
  uploadId: string | null;
  ending: AbortController;
}

/** Outside of the components: the queue goes on while other pages are shown. It ends with the page's load. */
const entries = new Map<number, Entry>();
const rates = new Map<number, ReturnType<typeof createRate>>();
const filesAtOnce = createLimit(4);
let lastId = 0;

export function addUploads(requests: readonly UploadRequest[]): void {
  for (const { uploadId = null, ...what } of requests) {
    lastId += 1;
    const shown: Upload = {
      id: lastId,
      storageId: what.storageId,
      key: what.key,
      sizeBytes: what.file.size,
      state: 'waiting',
      sentBytes: 0,
      error: null,
    };
    start({ shown, what, uploadId, ending: new AbortController() });
  }
}

/** A failed or canceled one again; parts that are stored are kept. */
export function retryUpload(id: number): void {
  const entry = entries.get(id);
  if (!entry || isActive(entry.shown)) return;
  const shown: Upload = { ...entry.shown, state: 'waiting', sentBytes: 0, error: null };
  start({ ...entry, shown, ending: new AbortController() });
}

/** Stops it and frees the parts that are stored. */
export function cancelUpload(id: number): void {
  const entry = entries.get(id);
  if (!entry || !isActive(entry.shown)) return;
  change(entry, { state: 'canceled' });
  entry.ending.abort();
}

export function cancelUploads(storageId: number): void {
  for (const { shown } of [...entries.values()]) if (shown.storageId === storageId) cancelUpload(shown.id);
}

/** Takes those that have ended off the list. */
export function clearEndedUploads(storageId: number): void {
  for (const { shown } of [...entries.values()])
    if (shown.storageId === storageId && !isActive(shown)) entries.delete(shown.id);
  publish();
}

export const isActive = ({ state }: Upload): boolean =>
  state === 'waiting' || state === 'checking' || state === 'sending';

/** Bytes a second to one storage. */
export const uploadRate = (storageId: number): number => rates.get(storageId)?.perSecond(Date.now()) ?? 0;

/** The open uploads in parts that this page is busy with. */
export function uploadIdsUnderWay(): Set<string> {
  return new Set(
    [...entries.values()].flatMap(({ shown, uploadId }) => (uploadId && isActive(shown) ? [uploadId] : [])),
  );
}

export function useUploads(storageId: number): readonly Upload[] {
  const all = useSyncExternalStore(subscribe, () => published);
  return all.filter((upload) => upload.storageId === storageId);
}

function start(entry: Entry): void {
  entries.set(entry.shown.id, entry);
  publish();
  void filesAtOnce(() => run(entry));
}

/** Never rejects: what fails is shown at the upload. */
async function run(entry: Entry): Promise<void> {
  const { signal } = entry.ending;
  if (signal.aborted) return;
  change(entry, { state: 'sending' });
  try {
    await sendFile(entry.what, {
      uploadId: entry.uploadId,
      signal,
      onBegun(uploadId) {
        entry.uploadId = uploadId;
      },
      onChecking: (isChecking) => !signal.aborted && change(entry, { state: isChecking ? 'checking' : 'sending' }),
      onProgress: (sentBytes) => progress(entry, sentBytes),
    });
    entry.uploadId = null;
    change(entry, { state: 'done', sentBytes: entry.shown.sizeBytes });
  } catch (error) {
    if (signal.aborted) await giveUp(entry);
    else change(entry, { state: 'failed', error: uploadErrorText(error) });
  }
  refreshListing();
}

/** Frees the parts. Where that fails the upload stays among the interrupted ones, which can be discarded there. */
async function giveUp(entry: Entry): Promise<void> {
  const { uploadId, what } = entry;
  if (uploadId === null) return;
  entry.uploadId = null;
  try {
    await call(api.storages.abortMultipart, { id: what.storageId, key: what.key, uploadId }, { quiet: true });
    forgetUpload(uploadId);
  } catch (cause) {
    console.warn(`The parts of ${what.key} are still stored`, cause);
  }
}

function progress(entry: Entry, sentBytes: number): void {
  const { storageId, sentBytes: before } = entry.shown;
  const rate = rates.get(storageId) ?? createRate();
  rates.set(storageId, rate);
  if (sentBytes > before && entry.shown.state === 'sending') rate.record(sentBytes - before, Date.now());
  if (isActive(entry.shown)) change(entry, { sentBytes });
}

const FULL = text('The storage is full: make it larger or delete objects');

function uploadErrorText(error: unknown): string {
  if (error instanceof CallError) return errorText(error);
  if (!(error instanceof PutError)) return errorText(error);
  if (error.code === 'QuotaExceeded') return t(FULL);
  if (error.status === 0) return t('The connection was lost, or the file has changed on the disk');
  return t('The storage refused it: {{code}}', { code: error.code ?? String(error.status) });
}

function change(entry: Entry, to: Partial<Upload>): void {
  entry.shown = { ...entry.shown, ...to };
  publishSoon();
}

const PUBLISH_MS = 100;
let published: readonly Upload[] = [];
let timer = 0;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Many files change many times a second. */
function publishSoon(): void {
  if (timer === 0) timer = window.setTimeout(publish, PUBLISH_MS);
}

function publish(): void {
  window.clearTimeout(timer);
  timer = 0;
  published = [...entries.values()].map(({ shown }) => shown);
  warnBeforeUnload(published.some(isActive));
  for (const listener of listeners) listener();
}

let warns = false;

function warnBeforeUnload(wanted: boolean): void {
  if (wanted === warns) return;
  warns = wanted;
  if (wanted) window.addEventListener('beforeunload', warn);
  else window.removeEventListener('beforeunload', warn);
}

const warn = (event: BeforeUnloadEvent): void => event.preventDefault();

const REFRESH_MS = 500;
let refreshing = 0;

/** Once for the files that end together. */
function refreshListing(): void {
  if (refreshing !== 0) return;
  refreshing = window.setTimeout(() => {
    refreshing = 0;
    void invalidate('storage/object/list', 'storage/object/multipart-list', 'storage/view');
  }, REFRESH_MS);
}
