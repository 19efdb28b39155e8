import { S3Error } from '../errors.ts';
import type { Query } from '../request.ts';

/** Buckets keep no versions: the only one of an object is `null`. */
export function requireNullVersion(query: Query): void {
  const version = query.get('versionId');
  if (version === null || version === 'null') return;
  if (version === '') throw new S3Error('InvalidArgument', 'Version id cannot be the empty string');
  throw new S3Error('NoSuchVersion', undefined, { VersionId: version });
}
