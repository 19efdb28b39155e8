import type { BlobStore } from '@stagi/s3/blobStore.ts';
import type { Context } from '../context.ts';

/** In each store: a blob that is named by the id of the installation whose bytes lie there. */
const MARKERS = 'installation/';

/** Logs an error for a place of another installation: nothing of it may be noted or removed. */
export async function isOurPlace(
  { installationId, log }: Pick<Context, 'installationId' | 'log'>,
  place: string,
  store: BlobStore,
): Promise<boolean> {
  if (await belongsToUs(store, installationId)) return true;
  log.error({ place, installationId }, 'a place of bytes belongs to another installation: it is not compared');
  return false;
}

/**
 * Marks a store that nobody has marked as ours. False when it carries the mark of another installation: also beside ours,
 * as two that find it unmarked at the same moment both mark it.
 */
export async function belongsToUs(store: BlobStore, installationId: string): Promise<boolean> {
  let owners = await ownersOf(store);
  if (owners.length === 0) {
    await store.put(MARKERS + installationId, markerOf(installationId));
    owners = await ownersOf(store);
  }
  return owners.every((owner) => owner === installationId);
}

async function ownersOf(store: BlobStore): Promise<string[]> {
  const owners: string[] = [];
  for await (const { name } of store.list(MARKERS)) owners.push(name.slice(MARKERS.length));
  return owners;
}

async function* markerOf(installationId: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`The bytes here belong to the Stagi installation ${installationId}.\n`);
}
