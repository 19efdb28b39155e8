import { openBucket, requireKey } from '../authorize.ts';
import type { Blob, Checksum, ChecksumAlgorithm, S3Bucket, S3Object } from '../backend.ts';
import type { ByteRange } from '../blobStore.ts';
import type { ObjectCall } from '../call.ts';
import { hasherOf } from '../checksums.ts';
import { readCondition } from '../conditions.ts';
import { S3Error } from '../errors.ts';
import { etagHash } from '../etag.ts';
import { checkedKey, decode, fromWire, isBucketName, Query } from '../request.ts';
import { requireNullVersion } from './version.ts';

/** The object that a copy is made of. The access key must open it, too. Throws `S3Error`. */
export async function openCopySource({ backend, by, request: { headers } }: ObjectCall): Promise<S3Object> {
  const source = copySourceOf(fromWire(headers.get('x-amz-copy-source')!));
  const bucket = await openBucket(backend, by, source.bucket, 'read');
  requireKey(by, source.key);
  const object = await backend.findObject(bucket, source.key);
  if (!object) throw new S3Error('NoSuchKey', undefined, { Key: source.key });
  if (readCondition(headers, object, 'x-amz-copy-source-') === 'not modified') throw new S3Error('PreconditionFailed');
  return object;
}

/** `bucket/key`, percent-encoded, perhaps with a slash before it and a version behind it. */
function copySourceOf(text: string): { bucket: string; key: string } {
  const [encoded = '', version] = text.split('?versionId=');
  if (version !== undefined) requireNullVersion(new Query([['versionId', version]]));
  const [, bucket, key] = /^\/?([^/]+)\/(.+)$/s.exec(decode(encoded, 'InvalidArgument')) ?? [];
  if (!bucket || !key)
    throw new S3Error('InvalidArgument', 'Copy Source must mention the source bucket and key: sourcebucket/sourcekey', {
      ArgumentName: 'x-amz-copy-source',
      ArgumentValue: text,
    });
  if (!isBucketName(bucket)) throw new S3Error('InvalidBucketName');
  return { bucket, key: checkedKey(key) };
}

/** Stores the bytes of an object, or a range of them, once more, and hashes them on the way. */
export async function copyBytes(
  { backend }: Pick<ObjectCall, 'backend'>,
  target: S3Bucket,
  source: S3Object,
  { range, algorithm }: { range: ByteRange | null; algorithm: ChecksumAlgorithm | null },
): Promise<{ blob: Blob; etag: string; checksum: Checksum | null }> {
  const bytes = range ? range.end - range.start + 1 : source.size;
  const md5 = etagHash();
  const hasher = algorithm ? hasherOf(algorithm) : null;
  async function* hashed(): AsyncGenerator<Buffer> {
    const stream = await backend.readObject(source, range ?? undefined);
    let seen = 0;
    for await (const data of stream as AsyncIterable<Buffer>) {
      seen += data.length;
      md5.update(data);
      hasher?.update(data);
      yield data;
    }
    if (seen !== bytes) throw new Error(`a copy gave ${seen} bytes of ${bytes}`);
  }
  const blob = await backend.writeBlob(target, hashed(), bytes);
  const value = hasher ? (await hasher.digest()).toString('base64') : null;
  return {
    blob,
    etag: md5.digest('hex'),
    checksum: algorithm && value !== null ? { algorithm, type: 'FULL_OBJECT', value } : null,
  };
}
