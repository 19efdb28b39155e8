import type { S3Backend, S3Bucket, S3Key } from './backend.ts';
import { S3Error } from './errors.ts';

export type Access = 'read' | 'write';

/**
 * The bucket, if the key opens it. A key of one bucket is told the same of all others, whether they exist or not.
 * Throws `S3Error`.
 */
export async function openBucket(
  backend: Pick<S3Backend, 'findBucket'>,
  by: S3Key,
  name: string,
  access: Access,
): Promise<S3Bucket> {
  if (by.bucket !== null && by.bucket !== name) throw new S3Error('AccessDenied');
  requireMode(by, access);
  const bucket = await backend.findBucket(name);
  if (!bucket) throw new S3Error('NoSuchBucket', undefined, { BucketName: name });
  if (by.bucket === null && bucket.owner.id !== by.owner.id) throw new S3Error('AccessDenied');
  return bucket;
}

function requireMode(by: S3Key, access: Access): void {
  if (access === 'write' && by.mode === 'read-only')
    throw new S3Error('AccessDenied', 'Access Denied: this access key is read-only');
}

/** For the key of an object. */
export function requireKey(by: S3Key, key: string): void {
  if (by.opensOneObject ? key !== by.prefix : !key.startsWith(by.prefix))
    throw new S3Error('AccessDenied', 'Access Denied: this access key opens another prefix');
}

/** For the prefix of a listing. */
export function requirePrefix(by: S3Key, prefix: string): void {
  if (by.opensOneObject || !prefix.startsWith(by.prefix))
    throw new S3Error('AccessDenied', 'Access Denied: this access key opens another prefix');
}

/** For what concerns the whole bucket. */
export const requireWholeBucket = (by: S3Key): void => requirePrefix(by, '');
