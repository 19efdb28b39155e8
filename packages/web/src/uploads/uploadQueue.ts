import { useSyncExternalStore } from 'react';
import { invalidate } from '../api/query.ts';
import { createLimit } from './limit.ts';
import { createRate } from './rate.ts';

export type UploadState = 'waiting' | 'checking' | 'sending' | 'paused' | 'done' | 'failed' | 'canceled';

/** A file on its way. */
export interface Upload {
  id: number;
  /** Where it goes: the name of a queue. */
  place: string;
  key: string;
  sizeBytes: number;
  state: UploadState;
  sentBytes: number;
  /** Why it failed. */
  error: string | null;
}

export interface SendOptions {
  /** Of an earlier attempt or before a reload. */
  uploadId: string | null;
  signal: AbortSignal;
  /** An upload that can be gone on with has begun. */
  onBegun(uploadId: string): void;
  /** Whether what is stored is being compared with the file. */
  onChecking(isChecking: boolean): void;
  /** Bytes that are stored or under way. */
  onProgress(bytes: number): void;
}

/** How one file gets to its place. */
export interface UploadRequest {
  place: string;
  key: string;
  file: File;
  /** Of an open upload to go on with. */
  uploadId?: string;
  send(options: SendOptions): Promise<void>;
  /** Frees what is stored of it. Where that fails it stays. */
  giveUp(uploadId: string): Promise<void>;
  /** Why it failed, for a person. */
  errorText(error: unknown): string;
  /** Beginnings of the paths of calls that answer something else once it has ended. */
  changes: readonly string[];
}

interface Entry {
  shown: Upload;
  what: UploadRequest;
  uploadId: string | null;
  ending: AbortController;
}

/** Outside of the components: the queue goes on while other pages are shown. It ends with the page's load. */
const entries = new Map<number, Entry>();
const rates = new Map<string, ReturnType<typeof createRate>>();
const filesAtOnce = createLimit(4);
let lastId = 0;

export function addUploads(requests: readonly UploadRequest[]): void {
  for (const what of requests) {
    lastId += 1;
    const shown: Upload = {
      id: lastId,
      place: what.place,
      key: what.key,
      sizeBytes: what.file.size,
      state: 'waiting',
      sentBytes: 0,
      error: null,
    };
    start({ shown, what, uploadId: what.uploadId ?? null, ending: new AbortController() });
  }
}

/** A paused, failed or canceled one again; what is stored is kept. */
export function retryUpload(id: number): void {
  const entry = entries.get(id);
  if (!entry || isActive(entry.shown)) return;
  const shown: Upload = { ...entry.shown, state: 'waiting', sentBytes: 0, error: null };
  start({ ...entry, shown, ending: new AbortController() });
}

/** Stops it, to go on later from what is stored. */
export function pauseUpload(id: number): void {
  const entry = entries.get(id);
  if (!entry || !isActive(entry.shown)) return;
  change(entry, { state: 'paused' });
  entry.ending.abort();
}

/** Stops it and frees what is stored. */
export function cancelUpload(id: number): void {
  const entry = entries.get(id);
  if (!entry || !(isActive(entry.shown) || entry.shown.state === 'paused')) return;
  const wasPaused = entry.shown.state === 'paused';
  change(entry, { state: 'canceled' });
  entry.ending.abort();
  // Nothing runs that would do it at its end.
  if (wasPaused) void giveUp(entry);
}

export function cancelUploads(place: string): void {
  for (const { shown } of [...entries.values()]) if (shown.place === place) cancelUpload(shown.id);
}

/** Takes those that have ended off the list. */
export function clearEndedUploads(place: string): void {
  for (const { shown } of [...entries.values()])
    if (shown.place === place && !isActive(shown) && shown.state !== 'paused') entries.delete(shown.id);
  publish();
}

export const isActive = ({ state }: Upload): boolean =>
  state === 'waiting' || state === 'checking' || state === 'sending';

/** Bytes a second to one place. */
export const uploadRate = (place: string): number => rates.get(place)?.perSecond(Date.now()) ?? 0;

/** The open uploads that this page is busy with, or will go on with. */
export function uploadIdsUnderWay(): Set<string> {
  return new Set(
    [...entries.values()].flatMap(({ shown, uploadId }) =>
      uploadId && (isActive(shown) || shown.state === 'paused') ? [uploadId] : [],
    ),
  );
}

export function useUploads(place: string): readonly Upload[] {
  const all = useSyncExternalStore(subscribe, () => published);
  return all.filter((upload) => upload.place === place);
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
    await entry.what.send({
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
    if (!signal.aborted) change(entry, { state: 'failed', error: entry.what.errorText(error) });
    else if (entry.shown.state === 'canceled') await giveUp(entry);
  }
  refreshListings(entry.what.changes);
}

async function giveUp(entry: Entry): Promise<void> {
  const { uploadId, what } = entry;
  if (uploadId === null) return;
  entry.uploadId = null;
  try {
    await what.giveUp(uploadId);
  } catch (cause) {
    console.warn(`What is stored of ${what.key} could not be freed`, cause);
  }
}

function progress(entry: Entry, sentBytes: number): void {
  const { place, sentBytes: before } = entry.shown;
  const rate = rates.get(place) ?? createRate();
  rates.set(place, rate);
  if (sentBytes > before && entry.shown.state === 'sending') rate.record(sentBytes - before, Date.now());
  if (isActive(entry.shown)) change(entry, { sentBytes });
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
const stale = new Set<string>();

/** Once for the files that end together. */
function refreshListings(changes: readonly string[]): void {
  const isPlanned = stale.size > 0;
  for (const path of changes) stale.add(path);
  if (isPlanned || stale.size === 0) return;
  window.setTimeout(() => {
    const paths = [...stale];
    stale.clear();
    void invalidate(...paths);
  }, REFRESH_MS);
}
