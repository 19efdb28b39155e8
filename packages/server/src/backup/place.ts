import type { BlobStore } from '@stagi/s3/blobStore.ts';
import { openDiskStore } from '@stagi/s3/diskStore.ts';
import { openS3Store } from '../objects/s3Store.ts';
import { BackupRefused } from './archive.ts';

type Environment = Record<string, string | undefined>;

/**
 * A folder of this machine, or `s3://bucket` or `s3://bucket/folder` at the S3 service that the usual AWS_ variables name.
 * Throws `BackupRefused`.
 */
export async function openPlace(place: string, env: Environment): Promise<BlobStore & { close(): void }> {
  if (!place.startsWith('s3://')) return { ...(await openDiskStore(place)), close() {} };
  const [, bucket, folder] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([a-z0-9-]{1,64})\/?)?$/.exec(place) ?? [];
  if (!bucket)
    throw new BackupRefused(
      `Not a place for backups: ${place}. Name a folder, s3://bucket or s3://bucket/folder, in small letters, digits and -.`,
    );
  const region = env.AWS_REGION || 'us-east-1';
  const store = openS3Store({
    name: 'backups',
    title: place,
    bucket,
    endpoint: env.AWS_ENDPOINT_URL || `https://s3.${region}.amazonaws.com`,
    region,
    accessKeyId: required(env, 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: required(env, 'AWS_SECRET_ACCESS_KEY'),
  });
  return folder ? { ...inFolder(store, `${folder}/`), close: () => store.close() } : store;
}

function required(env: Environment, name: string): string {
  const value = env[name];
  if (value) return value;
  throw new BackupRefused(
    `${name} is missing: backups in S3 need AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_ENDPOINT_URL ` +
      'where it is not that of Amazon.',
  );
}

function inFolder(store: BlobStore, folder: string): BlobStore {
  return {
    put: (name, body) => store.put(folder + name, body),
    get: (name, range) => store.get(folder + name, range),
    async head(name) {
      const found = await store.head(folder + name);
      return found && { ...found, name };
    },
    async *list(prefix) {
      for await (const blob of store.list(folder + prefix)) yield { ...blob, name: blob.name.slice(folder.length) };
    },
    remove: (name) => store.remove(folder + name),
  };
}
