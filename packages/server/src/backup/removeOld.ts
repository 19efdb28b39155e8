import type { BlobStore } from '@stagi/s3/blobStore.ts';
import { listBackups, readManifest, removeBackup } from './archive.ts';
import { BLOB_FOLDERS, readBlobList } from './blobList.ts';

/** Keeps the newest backups and the bytes that they list. Answers the names of those that were removed. */
export async function removeOldBackups(store: BlobStore, keep: number): Promise<string[]> {
  const { whole } = await listBackups(store);
  const old = whole.slice(0, Math.max(0, whole.length - keep));
  if (old.length === 0) return [];
  const named = new Set<string>();
  for (const kept of whole.slice(old.length))
    for await (const { name } of readBlobList(store, await readManifest(store, kept))) named.add(name);
  for (const backup of old) await removeBackup(store, backup);
  for (const folder of BLOB_FOLDERS)
    for await (const { name } of store.list(folder)) if (!named.has(name)) await store.remove(name);
  return old;
}
