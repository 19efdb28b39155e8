import { BlobMissing, type BlobStore } from '@stagi/s3/blobStore.ts';
import { inParallel } from '../loops/inParallel.ts';
import { BackupRefused, type Part, readManifest, readPart } from './archive.ts';
import { readBlobList } from './blobList.ts';

const PARALLEL = 4;

export interface Verified {
  parts: number;
  bytes: number;
  /** A sentence for each part that is missing or damaged. */
  problems: string[];
}

/** Reads every byte of a backup and compares it with its checksum. */
export async function verifyBackup(store: BlobStore, backup: string): Promise<Verified> {
  const manifest = await readManifest(store, backup);
  const found: Verified = { parts: 0, bytes: 0, problems: [] };
  const check = async (part: Part): Promise<void> => {
    found.parts += 1;
    found.bytes += part.bytes;
    const problem = await problemOf(store, part);
    if (problem) found.problems.push(problem);
  };
  await inParallel(
    PARALLEL,
    [...manifest.tables.map(({ part }) => part), ...manifest.repositories.flatMap(({ part }) => part ?? [])],
    check,
  );
  await check(manifest.blobs.part);
  const canReadList = !found.problems.some((problem) => problem.startsWith(manifest.blobs.part.name));
  if (canReadList) await inParallel(PARALLEL, readBlobList(store, manifest), check);
  return found;
}

async function problemOf(store: BlobStore, part: Part): Promise<string | null> {
  try {
    for await (const _ of readPart(store, part));
    return null;
  } catch (error) {
    if (error instanceof BlobMissing) return `${part.name} is missing.`;
    if (error instanceof BackupRefused) return error.message;
    throw error;
  }
}
