import type { S3Object } from '../backend.ts';
import type { ByteRange } from '../blobStore.ts';
import type { Answer, ObjectCall } from '../call.ts';
import { readCondition } from '../conditions.ts';
import { S3Error } from '../errors.ts';
import { objectHeaders } from '../objectHeaders.ts';
import { rangeOf } from './range.ts';
import { requireNullVersion } from './version.ts';

export const headObject = (call: ObjectCall): Promise<Answer> => answer(call, async () => undefined);

export const getObject = (call: ObjectCall): Promise<Answer> =>
  answer(call, (object, range) => call.backend.readObject(object, range));

async function answer(
  call: ObjectCall,
  open: (object: S3Object, range?: ByteRange) => Promise<Answer['body'] | undefined>,
): Promise<Answer> {
  const { request } = call;
  requireNullVersion(request.query);
  const object = await requireObject(call);
  if (readCondition(request.headers, object) === 'not modified')
    return { status: 304, headers: { etag: `"${object.etag}"`, 'last-modified': object.modifiedAt.toUTCString() } };
  const part = partOf(call, object);
  const range = part ? part.range : rangeOf(request.headers.get('range'), request.headers.get('if-range'), object);
  const headers = objectHeaders(object, request);
  if (part?.count) headers['x-amz-mp-parts-count'] = String(part.count);
  if (!range) {
    headers['content-length'] = String(object.size);
    return withBody(200, headers, await open(object));
  }
  // A checksum is that of the whole object, so a part of it has none.
  for (const name of Object.keys(headers))
    if (name.startsWith('x-amz-checksum-') && !(part && name === 'x-amz-checksum-type')) delete headers[name];
  headers['content-length'] = String(range.end - range.start + 1);
  headers['content-range'] = `bytes ${range.start}-${range.end}/${object.size}`;
  return withBody(206, headers, await open(object, range));
}

const withBody = (status: number, headers: Record<string, string>, body: Answer['body'] | undefined): Answer =>
  body === undefined ? { status, headers } : { status, headers, body };

export async function requireObject({ backend, bucket, key }: ObjectCall): Promise<S3Object> {
  const object = await backend.findObject(bucket, key);
  if (!object) throw new S3Error('NoSuchKey', undefined, { Key: key });
  return object;
}

/** The bytes of one part, of an object that was uploaded in parts; other objects are their own first part. */
function partOf({ request }: ObjectCall, object: S3Object): { range: ByteRange | null; count: number | null } | null {
  const text = request.query.get('partNumber');
  if (text === null) return null;
  if (request.headers.has('range'))
    throw new S3Error('InvalidRequest', 'Cannot specify both Range header and partNumber query parameter');
  const number = partNumber(text);
  const blobs = object.isMultipart ? object.blobs : [{ size: object.size }];
  const blob = blobs[number - 1];
  if (!blob) throw new S3Error('InvalidPartNumber');
  const start = blobs.slice(0, number - 1).reduce((sum, { size }) => sum + size, 0);
  const range = blob.size === 0 ? null : { start, end: start + blob.size - 1 };
  return { range, count: object.isMultipart ? blobs.length : null };
}

export function partNumber(text: string | null): number {
  const number = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0;
  if (number < 1 || number > 10_000)
    throw new S3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive', {
      ArgumentName: 'partNumber',
      ArgumentValue: text ?? '',
    });
  return number;
}
