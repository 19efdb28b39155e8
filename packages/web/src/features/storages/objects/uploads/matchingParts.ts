import { md5 } from '@noble/hashes/legacy.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { StoredPart } from './parts.ts';
import type { RememberedUpload } from './uploadMemory.ts';

/** Read at a time, so that the page stays alive while it computes. */
const CHUNK_BYTES = 1024 * 1024;

interface Options {
  remembered: RememberedUpload | undefined;
  signal: AbortSignal;
}

/**
 * Those of the stored parts that hold what the file holds now, by their MD5. A file that this browser remembers with its
 * time of change is trusted when its first stored part matches.
 */
export async function matchingParts(
  file: File,
  stored: readonly StoredPart[],
  { remembered, signal }: Options,
): Promise<StoredPart[]> {
  const isUnchanged = remembered?.sizeBytes === file.size && remembered.lastModified === file.lastModified;
  const matching: StoredPart[] = [];
  for (const part of stored) {
    signal.throwIfAborted();
    if ((await md5Of(file, part)) === part.etag) matching.push(part);
    if (isUnchanged && matching.length === 1) return [...stored.filter((one) => one.number >= part.number)];
  }
  return matching;
}

async function md5Of(file: File, { start, end }: StoredPart): Promise<string> {
  const hash = md5.create();
  for (let at = start; at < end; at += CHUNK_BYTES)
    hash.update(new Uint8Array(await file.slice(at, Math.min(end, at + CHUNK_BYTES)).arrayBuffer()));
  return bytesToHex(hash.digest());
}
