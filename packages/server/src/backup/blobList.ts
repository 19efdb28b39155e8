import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { BlobMissing, type BlobStore } from '@stagi/s3/blobStore.ts';
import {
  BackupRefused,
  listBackups,
  type Manifest,
  type Part,
  partName,
  readCompressed,
  readManifest,
  writeCompressed,
} from './archive.ts';

/** Folders of a store of backups, and of the platform's own stores. */
export const BLOB_FOLDERS = ['objects/', 'files/'] as const;

export async function writeBlobList(
  store: BlobStore,
  backup: string,
  parts: readonly Part[],
): Promise<Manifest['blobs']> {
  const lines = Readable.from(parts.map(({ name, bytes, sha256 }) => `${name} ${bytes} ${sha256}\n`));
  return {
    count: parts.length,
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    part: await writeCompressed(store, partName(backup, 'blobs'), lines),
  };
}

/** The objects and files of a backup. Throws `BackupRefused` when the list is damaged. */
export async function* readBlobList(store: BlobStore, { blobs }: Manifest): AsyncGenerator<Part> {
  const bytes = readCompressed(store, blobs.part);
  for await (const line of createInterface({ input: bytes })) {
    const [name = '', size, sha256 = ''] = line.split(' ');
    yield { name, bytes: Number(size), sha256 };
  }
  // The lines end without an error of what they are read from.
  if (bytes.errored) throw bytes.errored;
}

/** Blobs of the last backup that still lie in the store in their size. None when its list is damaged. */
export async function knownBlobs(store: BlobStore): Promise<ReadonlyMap<string, Part>> {
  const last = (await listBackups(store)).whole.at(-1);
  if (last === undefined) return new Map();
  try {
    return await stillThere(store, await readManifest(store, last));
  } catch (error) {
    // A backup of before must not stop this one: all is copied anew.
    if (error instanceof BackupRefused || error instanceof BlobMissing) return new Map();
    throw error;
  }
}

async function stillThere(store: BlobStore, manifest: Manifest): Promise<Map<string, Part>> {
  const known = new Map<string, Part>();
  const sizes = new Map<string, number>();
  for (const folder of BLOB_FOLDERS) for await (const { name, size } of store.list(folder)) sizes.set(name, size);
  for await (const part of readBlobList(store, manifest))
    if (sizes.get(part.name) === part.bytes) known.set(part.name, part);
  return known;
}
