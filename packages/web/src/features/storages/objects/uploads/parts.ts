import type { OpenUpload } from '@stagi/contract/storages.ts';

const MIB = 1024 * 1024;
/** Larger files are sent in parts, which can be resumed. */
export const SENT_WHOLE_UP_TO = 8 * MIB;
/** Of S3, for all parts but the last. */
const MIN_PART_BYTES = 5 * MIB;
const MAX_PARTS = 10_000;

export interface Part {
  number: number;
  start: number;
  end: number;
}

export function partsOf(sizeBytes: number, partBytes: number): Part[] {
  return Array.from({ length: Math.max(1, Math.ceil(sizeBytes / partBytes)) }, (_, at) => ({
    number: at + 1,
    start: at * partBytes,
    end: Math.min(sizeBytes, (at + 1) * partBytes),
  }));
}

export interface StoredPart extends Part {
  etag: string;
}

export interface ResumePlan {
  partBytes: number;
  /** Of the right size; a part of another size is sent again. */
  stored: StoredPart[];
}

/**
 * How a file goes on where an upload stopped, or null when it cannot be this file: completing an upload joins all stored
 * parts, so none may lie beyond its end. `partBytes` is known only where the upload began in this browser.
 */
export function resumePlan(sizeBytes: number, parts: OpenUpload['parts'], partBytes?: number): ResumePlan | null {
  const size = partBytes ?? likelyPartBytes(parts);
  if (size === null || size < MIN_PART_BYTES) return null;
  const all = partsOf(sizeBytes, size);
  if (all.length > MAX_PARTS || parts.some(({ partNumber }) => partNumber > all.length)) return null;
  const stored = parts.flatMap(({ partNumber, sizeBytes: bytes, etag }) => {
    const part = all[partNumber - 1];
    return part && part.end - part.start === bytes ? [{ ...part, etag }] : [];
  });
  return { partBytes: size, stored };
}

/** All parts but the last have one size, so the first tells it; without the first the largest does. */
function likelyPartBytes(parts: OpenUpload['parts']): number | null {
  const first = parts.find(({ partNumber }) => partNumber === 1);
  if (first) return first.sizeBytes;
  return parts.length === 0 ? null : Math.max(...parts.map(({ sizeBytes }) => sizeBytes));
}
