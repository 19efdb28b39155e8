import type { Checksum, S3Object, S3Part, S3Upload, WriteCondition } from '../backend.ts';
import { openBody, readSmall } from '../body.ts';
import type { Answer, ObjectCall } from '../call.ts';
import { ALGORITHMS, checksumHeader, checksumOfParts } from '../checksums.ts';
import { unquoted, writeCondition } from '../conditions.ts';
import { S3Error } from '../errors.ts';
import { multipartEtag } from '../etag.ts';
import { encodeKey } from '../signature.ts';
import { childrenOf, parseXml, requiredText, textIn, xmlDocument } from '../xml.ts';
import { checksumElements } from './copyObject.ts';
import { noSuchUpload } from './multipart.ts';

const MAX_PARTS = 10_000;
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** All parts but the last have at least so many bytes. */
const MIN_PART_BYTES = 5 * 1024 * 1024;

interface ListedPart {
  number: number;
  etag: string;
  /** Base64. */
  checksum: string | null;
}

export async function completeUpload(call: ObjectCall): Promise<Answer> {
  const { backend, bucket, key, request, payload, source } = call;
  const uploadId = request.query.get('uploadId') ?? '';
  const condition = writeCondition(request.headers);
  // Here a checksum in the header is that of the object.
  const headers = request.headers.without(ALGORITHMS.map(checksumHeader));
  const listed = await readParts(await readSmall(openBody({ headers, payload, source }), MAX_BODY_BYTES));
  const upload = await backend.findUpload(bucket, key, uploadId);
  if (!upload) return repeated(call, uploadId, listed, noSuchUpload(uploadId));
  try {
    return completed(call, await complete(call, upload, listed, condition));
  } catch (error) {
    // The same request may have completed it meanwhile.
    if (error instanceof S3Error && (error.code === 'NoSuchUpload' || error.code === 'InvalidPart'))
      return repeated(call, uploadId, listed, error);
    throw error;
  }
}

async function complete(
  call: ObjectCall,
  upload: S3Upload,
  listed: readonly ListedPart[],
  condition: WriteCondition | undefined,
): Promise<S3Object> {
  const { backend, bucket, by } = call;
  const parts = await chosenParts(call, upload, listed);
  const content = { etag: multipartEtag(parts), checksum: checksumOf(upload, parts) };
  requireExpected(call, parts, content.checksum);
  const numbers = parts.map(({ number }) => number);
  return backend.completeUpload(by, bucket, upload, numbers, content, condition);
}

/** An answer may be lost: the same request again gets it once more. */
async function repeated(
  call: ObjectCall,
  uploadId: string,
  listed: readonly ListedPart[],
  otherwise: S3Error,
): Promise<Answer> {
  const object = await call.backend.findCompletedUpload(call.bucket, call.key, uploadId);
  if (!object || object.etag !== multipartEtag(listed)) throw otherwise;
  return completed(call, object);
}

async function readParts(xml: string): Promise<ListedPart[]> {
  const parts = childrenOf(await parseXml(xml, 'CompleteMultipartUpload'), 'Part');
  if (parts.length === 0) throw new S3Error('MalformedXML');
  if (parts.length > MAX_PARTS) throw new S3Error('TooManyParts');
  return parts.map((part) => {
    const number = requiredText(part, 'PartNumber').trim();
    if (!/^\d{1,5}$/.test(number)) throw new S3Error('MalformedXML');
    const checksums = ALGORITHMS.map((algorithm) => textIn(part, `Checksum${algorithm}`)).filter((one) => one !== null);
    return { number: Number(number), etag: unquoted(requiredText(part, 'ETag')), checksum: checksums[0] ?? null };
  });
}

async function chosenParts(
  { backend }: ObjectCall,
  upload: S3Upload,
  listed: readonly ListedPart[],
): Promise<S3Part[]> {
  const stored = new Map<number, S3Part>();
  for (let after = 0, isTruncated = true; isTruncated; ) {
    const page = await backend.listParts(upload, after, 1_000);
    for (const part of page.parts) stored.set(part.number, part);
    after = page.parts.at(-1)?.number ?? after;
    isTruncated = page.isTruncated;
  }
  return listed.map((claim, index) => {
    if (index > 0 && claim.number <= listed[index - 1]!.number) throw new S3Error('InvalidPartOrder');
    const part = stored.get(claim.number);
    const isSame = part?.etag === claim.etag && (claim.checksum === null || part.checksum?.value === claim.checksum);
    if (!part || !isSame)
      throw new S3Error('InvalidPart', undefined, { UploadId: upload.id, PartNumber: String(claim.number) });
    if (index < listed.length - 1 && part.size < MIN_PART_BYTES)
      throw new S3Error('EntityTooSmall', undefined, {
        PartNumber: String(part.number),
        ProposedSize: String(part.size),
        MinSizeAllowed: String(MIN_PART_BYTES),
      });
    return part;
  });
}

function checksumOf(upload: S3Upload, parts: readonly S3Part[]): Checksum | null {
  if (!upload.checksum) return null;
  return checksumOfParts(
    upload.checksum,
    parts.map(({ size, checksum }) => ({ size, value: checksum!.value })),
  );
}

/** What the client says of the whole object: its checksum, the type of it, its size. */
function requireExpected({ request: { headers } }: ObjectCall, parts: readonly S3Part[], checksum: Checksum | null) {
  const type = headers.get('x-amz-checksum-type');
  if (type !== null && type !== checksum?.type)
    throw new S3Error('InvalidRequest', 'The upload was created with another checksum type');
  const size = headers.get('x-amz-mp-object-size');
  const actual = parts.reduce((sum, part) => sum + part.size, 0);
  if (size !== null && size !== String(actual))
    throw new S3Error('InvalidRequest', `The provided 'x-amz-mp-object-size' header does not match: ${actual} bytes`);
  for (const algorithm of ALGORITHMS) {
    const said = headers.get(checksumHeader(algorithm));
    if (said === null) continue;
    if (algorithm !== checksum?.algorithm)
      throw new S3Error('InvalidRequest', 'The upload was created with another checksum algorithm');
    if (said !== checksum.value && said !== checksum.value.replace(/-\d+$/, ''))
      throw new S3Error('BadDigest', `The ${algorithm} you specified did not match the calculated checksum`);
  }
}

const completed = ({ bucket, request }: ObjectCall, object: S3Object): Answer => ({
  status: 200,
  body: xmlDocument('CompleteMultipartUploadResult', [
    ['Location', `http://${request.headers.get('host')}/${bucket.name}/${encodeKey(object.key)}`],
    ['Bucket', bucket.name],
    ['Key', object.key],
    ['ETag', `"${object.etag}"`],
    ...checksumElements(object.checksum),
  ]),
});
