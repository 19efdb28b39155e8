import type { Checksum, ObjectAttributes, S3Object } from '../backend.ts';
import type { Answer, ObjectCall } from '../call.ts';
import { algorithmOf } from '../checksums.ts';
import { writeCondition } from '../conditions.ts';
import { S3Error } from '../errors.ts';
import { attributesOf } from '../objectHeaders.ts';
import { type Elements, xmlDocument } from '../xml.ts';
import { copyBytes, openCopySource } from './copySource.ts';
import { MAX_PUT_BYTES } from './putObject.ts';

export async function copyObject(call: ObjectCall): Promise<Answer> {
  const { backend, bucket, by, key, request } = call;
  const given = attributesOf(request.headers, () => backend.typeOfName(key));
  const condition = writeCondition(request.headers);
  const source = await openCopySource(call);
  if (source.size > MAX_PUT_BYTES)
    throw new S3Error('InvalidRequest', `The copy source is larger than the maximum allowable size: ${MAX_PUT_BYTES}`);
  const replaces = replacedBy(request.headers.get('x-amz-metadata-directive'), 'metadata');
  const attributes = {
    ...(replaces ? given : { headers: source.headers, metadata: source.metadata }),
    tags: replacedBy(request.headers.get('x-amz-tagging-directive'), 'tagging') ? given.tags : source.tags,
  };
  const wanted = request.headers.get('x-amz-checksum-algorithm');
  const algorithm = wanted ? algorithmOf(wanted) : (source.checksum?.algorithm ?? null);
  const isItself = source.bucketId === bucket.id && source.key === key;
  if (isItself && !replaces && !wanted && !request.headers.has('x-amz-storage-class'))
    throw new S3Error(
      'InvalidRequest',
      'This copy request is illegal because it is trying to copy an object to itself without changing its metadata',
    );
  if (isItself && !wanted && !condition) return copied(await replaceInPlace(call, source, attributes));
  const copy = await copyBytes(call, bucket, source, { range: null, algorithm });
  return copied(await backend.commitObject(by, bucket, key, { ...attributes, ...copy }, condition));
}

function replacedBy(directive: string | null, what: string): boolean {
  if (directive === null || directive === 'COPY') return false;
  if (directive === 'REPLACE') return true;
  throw new S3Error('InvalidArgument', `Unknown ${what} directive.`);
}

/** The bytes stay where they are. */
async function replaceInPlace({ backend, by }: ObjectCall, source: S3Object, attributes: ObjectAttributes) {
  const object = await backend.replaceAttributes(by, source, attributes);
  if (!object) throw new S3Error('ConditionalRequestConflict', 'The object was replaced meanwhile. Please try again.');
  return object;
}

const copied = (object: S3Object): Answer => ({
  status: 200,
  body: xmlDocument('CopyObjectResult', [
    ['LastModified', object.modifiedAt],
    ['ETag', `"${object.etag}"`],
    ...checksumElements(object.checksum),
  ]),
});

export const checksumElements = (checksum: Checksum | null): Elements =>
  checksum
    ? [
        [`Checksum${checksum.algorithm}`, checksum.value],
        ['ChecksumType', checksum.type],
      ]
    : [];
