import { openBody } from '../body.ts';
import type { Answer, ObjectCall } from '../call.ts';
import { writeCondition } from '../conditions.ts';
import { S3Error } from '../errors.ts';
import { attributesOf, checksumHeaders } from '../objectHeaders.ts';

/** Of one request: 5 GiB. */
export const MAX_PUT_BYTES = 5 * 1024 ** 3;

export async function putObject(call: ObjectCall): Promise<Answer> {
  const { backend, bucket, by, key, request } = call;
  const attributes = attributesOf(request.headers, () => backend.typeOfName(key));
  const condition = writeCondition(request.headers);
  const body = openUploadBody(call);
  if (condition?.ifNoneMatch && (await backend.findObject(bucket, key))) throw new S3Error('PreconditionFailed');
  const blob = await backend.writeBlob(bucket, body.stream(), body.bytes);
  const content = { ...attributes, blob, etag: body.md5(), checksum: body.checksum() };
  const object = await backend.commitObject(by, bucket, key, content, condition);
  return { status: 200, headers: { etag: `"${object.etag}"`, ...checksumHeaders(object.checksum) } };
}

/** The body of a put or a part. Its length must be known before. */
export function openUploadBody(
  { request: { headers }, payload, source }: Pick<ObjectCall, 'request' | 'payload' | 'source'>,
  options: Pick<Parameters<typeof openBody>[0], 'wanted'> = {},
) {
  if (!headers.has('content-length') && !headers.has('x-amz-decoded-content-length'))
    throw new S3Error('MissingContentLength');
  const body = openBody({ headers, payload, source, ...options });
  if (body.bytes > MAX_PUT_BYTES)
    throw new S3Error('EntityTooLarge', undefined, {
      ProposedSize: String(body.bytes),
      MaxSizeAllowed: String(MAX_PUT_BYTES),
    });
  return body;
}
