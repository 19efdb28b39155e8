import type { Checksum, S3Upload } from '../backend.ts';
import type { Answer, ObjectCall } from '../call.ts';
import { algorithmOf } from '../checksums.ts';
import { S3Error } from '../errors.ts';
import { attributesOf, checksumHeaders } from '../objectHeaders.ts';
import type { Headers } from '../request.ts';
import { xmlDocument } from '../xml.ts';
import { checksumElements } from './copyObject.ts';
import { copyBytes, openCopySource } from './copySource.ts';
import { partNumber } from './getObject.ts';
import { MAX_PUT_BYTES, openUploadBody } from './putObject.ts';
import { copyRange } from './range.ts';

export async function createUpload({ backend, bucket, by, key, request: { headers } }: ObjectCall): Promise<Answer> {
  const checksum = uploadChecksum(headers);
  const upload = await backend.createUpload(by, bucket, key, {
    ...attributesOf(headers, () => backend.typeOfName(key)),
    checksum,
  });
  return {
    status: 200,
    headers: checksum ? { 'x-amz-checksum-algorithm': checksum.algorithm, 'x-amz-checksum-type': checksum.type } : {},
    body: xmlDocument('InitiateMultipartUploadResult', [
      ['Bucket', bucket.name],
      ['Key', key],
      ['UploadId', upload.id],
    ]),
  };
}

/** CRC64NVME is of the whole object alone, SHA of the parts alone; CRC32 and CRC32C may be either. */
function uploadChecksum(headers: Headers): Pick<Checksum, 'algorithm' | 'type'> | null {
  const name = headers.get('x-amz-checksum-algorithm');
  const type = headers.get('x-amz-checksum-type');
  if (name === null) {
    if (type !== null)
      throw new S3Error('InvalidRequest', 'The x-amz-checksum-type header can only be used with an algorithm');
    return null;
  }
  const algorithm = algorithmOf(name);
  const usual = algorithm === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE';
  const wanted = type ?? usual;
  if (wanted !== 'FULL_OBJECT' && wanted !== 'COMPOSITE')
    throw new S3Error('InvalidRequest', 'Value for x-amz-checksum-type header is invalid');
  if (wanted !== usual && (algorithm === 'CRC64NVME' || algorithm.startsWith('SHA')))
    throw new S3Error('InvalidRequest', `The ${wanted} checksum type cannot be used with the ${algorithm} algorithm`);
  return { algorithm, type: wanted };
}

export async function uploadPart(call: ObjectCall): Promise<Answer> {
  const { backend, bucket, by, request } = call;
  const number = partNumber(request.query.get('partNumber'));
  const upload = await requireUpload(call);
  const wanted = upload.checksum?.algorithm;
  const body = openUploadBody(call, wanted ? { wanted } : {});
  const blob = await backend.writeBlob(bucket, body.stream(), body.bytes);
  const checksum = body.checksum();
  if (wanted && checksum?.algorithm !== wanted) {
    await backend.discardBlob(blob);
    throw new S3Error('InvalidRequest', `The upload was created with the checksum algorithm ${wanted}`);
  }
  const part = await backend.putPart(by, bucket, upload, { number, blob, etag: body.md5(), checksum });
  const { 'x-amz-checksum-type': _, ...headers } = checksumHeaders(part.checksum);
  return { status: 200, headers: { etag: `"${part.etag}"`, ...headers } };
}

export async function copyPart(call: ObjectCall): Promise<Answer> {
  const { backend, bucket, by, request } = call;
  const number = partNumber(request.query.get('partNumber'));
  const upload = await requireUpload(call);
  const source = await openCopySource(call);
  const range = copyRange(request.headers.get('x-amz-copy-source-range'), source.size);
  if ((range ? range.end - range.start + 1 : source.size) > MAX_PUT_BYTES)
    throw new S3Error('InvalidRequest', `A part has at most ${MAX_PUT_BYTES} bytes`);
  const copy = await copyBytes(call, bucket, source, { range, algorithm: upload.checksum?.algorithm ?? null });
  const part = await backend.putPart(by, bucket, upload, { number, ...copy });
  return {
    status: 200,
    body: xmlDocument('CopyPartResult', [
      ['LastModified', part.modifiedAt],
      ['ETag', `"${part.etag}"`],
      ...checksumElements(part.checksum).filter(([name]) => name !== 'ChecksumType'),
    ]),
  };
}

export async function abortUpload(call: ObjectCall): Promise<Answer> {
  await call.backend.abortUpload(call.by, call.bucket, await requireUpload(call));
  return { status: 204 };
}

export async function requireUpload({ backend, bucket, key, request }: ObjectCall): Promise<S3Upload> {
  const id = request.query.get('uploadId') ?? '';
  const upload = await backend.findUpload(bucket, key, id);
  if (!upload) throw noSuchUpload(id);
  return upload;
}

export const noSuchUpload = (id: string): S3Error => new S3Error('NoSuchUpload', undefined, { UploadId: id });
