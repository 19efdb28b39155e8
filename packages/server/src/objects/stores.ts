import { join } from 'node:path';
import type { BlobStore } from '@stagi/s3/blobStore.ts';
import { openDiskStore } from '@stagi/s3/diskStore.ts';
import type { Config } from '../config/config.ts';
import { LOCAL_LOCATION } from '../config/objectStorage.ts';
import { openS3Store } from './s3Store.ts';

export interface Stores {
  blobs: ReadonlyMap<string, BlobStore>;
  files: BlobStore;
  close(): void;
}

/** The places of bytes. Another S3 is not asked here: the platform starts without it. */
export async function openStores(config: Pick<Config, 'dataDir' | 's3Locations' | 'filesLocation'>): Promise<Stores> {
  const others = config.s3Locations.map((location) => ({ name: location.name, store: openS3Store(location) }));
  return {
    blobs: new Map<string, BlobStore>([
      [LOCAL_LOCATION, await openDiskStore(join(config.dataDir, 's3'))],
      ...others.map(({ name, store }) => [name, store] as const),
    ]),
    files:
      others.find(({ name }) => name === config.filesLocation)?.store ??
      (await openDiskStore(join(config.dataDir, 'files'))),
    close() {
      for (const { store } of others) store.close();
    },
  };
}
