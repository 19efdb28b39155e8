import type { OpenUpload } from '@stagi/contract/storages.ts';

/** What this browser knows of an upload in parts that it began: to find the same file again after a reload. */
export interface RememberedUpload {
  uploadId: string;
  sizeBytes: number;
  lastModified: number;
  partBytes: number;
}

const STORED = 'openUploads';
const MOST = 100;

export function rememberUpload(upload: RememberedUpload): void {
  write([...rememberedUploads().filter(({ uploadId }) => uploadId !== upload.uploadId), upload]);
}

export function forgetUpload(uploadId: string): void {
  write(rememberedUploads().filter((upload) => upload.uploadId !== uploadId));
}

export const rememberedUpload = (uploadId: string): RememberedUpload | undefined =>
  rememberedUploads().find((upload) => upload.uploadId === uploadId);

/** The open upload of this key that the file seems to belong to; `open` may hold several of one key. */
export function uploadToResume(open: readonly OpenUpload[], key: string, file: File): OpenUpload | undefined {
  return open.find((upload) => {
    const known = rememberedUpload(upload.uploadId);
    return upload.key === key && known?.sizeBytes === file.size && known.lastModified === file.lastModified;
  });
}

function rememberedUploads(): RememberedUpload[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]');
    return Array.isArray(value) ? value.filter(isRemembered) : [];
  } catch (cause) {
    console.warn('The list of open uploads cannot be read', cause);
    return [];
  }
}

function write(uploads: readonly RememberedUpload[]): void {
  try {
    if (uploads.length === 0) localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, JSON.stringify(uploads.slice(-MOST)));
  } catch (cause) {
    // A full or forbidden storage: such an upload is resumed by comparing its parts.
    console.warn('The open upload is not remembered', cause);
  }
}

const isRemembered = (value: RememberedUpload): boolean =>
  typeof value?.uploadId === 'string' &&
  [value.sizeBytes, value.lastModified, value.partBytes].every((number) => typeof number === 'number');
