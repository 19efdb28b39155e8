import { isUtf8 } from 'node:buffer';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Payload } from './authenticate.ts';
import { decodeChunks } from './awsChunked.ts';
import type { Checksum, ChecksumAlgorithm } from './backend.ts';
import { ALGORITHMS, checksumHeader, type Hasher, hasherOf, requireChecksumText } from './checksums.ts';
import { S3Error } from './errors.ts';
import { etagHash } from './etag.ts';
import type { Headers } from './request.ts';

/** The bytes of a request, checked while they pass. */
export interface Body {
  /** Without the encoding `aws-chunked`. */
  bytes: number;
  /** Reads it, once. Throws `S3Error` at its end when a hash is not what the client said. */
  stream(): AsyncGenerator<Buffer>;
  /** After the stream: hex. */
  md5(): string;
  /** After the stream: the one that the client sent, or `wanted`. */
  checksum(): Checksum | null;
  /** Whether the client said what it must hash to, besides a signature. */
  hasDigest: boolean;
}

interface BodyRequest {
  headers: Headers;
  payload: Payload;
  source: AsyncIterable<Buffer>;
  /** Computed even if the client sends none. */
  wanted?: ChecksumAlgorithm;
}

/** Throws `S3Error` for headers that cannot be. Nothing is read yet. */
export function openBody({ headers, payload, source, wanted }: BodyRequest): Body {
  const isChunked = payload.kind === 'signed chunks' || payload.kind === 'unsigned chunks';
  const bytes = bodyBytes(headers, isChunked);
  const contentMd5 = md5Header(headers);
  const claimed = claimedChecksum(headers);
  const trailerAlgorithm = trailerOf(headers, payload);
  if (claimed && trailerAlgorithm) throw new S3Error('InvalidRequest', 'Expecting a single x-amz-checksum- header');
  if (headers.has('x-amz-sdk-checksum-algorithm') && !claimed && !trailerAlgorithm)
    throw new S3Error(
      'InvalidRequest',
      'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found',
    );
  const algorithm = claimed?.algorithm ?? trailerAlgorithm ?? wanted ?? null;

  const md5 = etagHash();
  const sha256 = payload.kind === 'hashed' ? createHash('sha256') : null;
  const hasher: Hasher | null = algorithm ? hasherOf(algorithm) : null;
  const trailers = new Map<string, string>();
  let digest: Buffer | null = null;
  let checksum: Checksum | null = null;

  return {
    bytes,
    hasDigest: contentMd5 !== null || claimed !== null || trailerAlgorithm !== null,
    md5: () => digest!.toString('hex'),
    checksum: () => checksum,
    async *stream() {
      const hasTrailer = payload.kind === 'unsigned chunks' || (payload.kind === 'signed chunks' && payload.hasTrailer);
      const seed = payload.kind === 'signed chunks' ? payload.seed : null;
      const decoded = isChunked ? decodeChunks(source, { seed, hasTrailer, trailers }) : source;
      let seen = 0;
      for await (const data of decoded) {
        seen += data.length;
        if (seen > bytes) throw new S3Error('IncompleteBody', 'The body has more bytes than were declared');
        md5.update(data);
        sha256?.update(data);
        hasher?.update(data);
        yield data;
      }
      if (seen < bytes) throw new S3Error('IncompleteBody');
      digest = md5.digest();
      if (contentMd5 && !timingSafeEqual(contentMd5, digest)) throw new S3Error('BadDigest');
      if (payload.kind === 'hashed' && sha256!.digest('hex') !== payload.sha256)
        throw new S3Error('XAmzContentSHA256Mismatch');
      if (!algorithm || !hasher) return;
      const value = (await hasher.digest()).toString('base64');
      const said = claimed?.value ?? (trailerAlgorithm ? (trailers.get(checksumHeader(algorithm)) ?? '') : value);
      if (said !== value)
        throw new S3Error('BadDigest', `The ${algorithm} you specified did not match the calculated checksum`);
      checksum = { algorithm, type: 'FULL_OBJECT', value };
    },
  };
}

/** Reads all of a small body, such as XML. */
export async function readSmall(body: Body, maxBytes: number): Promise<string> {
  if (body.bytes > maxBytes) throw new S3Error('MalformedXML', `The body has more than ${maxBytes} bytes`);
  const parts: Buffer[] = [];
  for await (const part of body.stream()) parts.push(part);
  const bytes = Buffer.concat(parts);
  // What is not UTF-8 would become another key.
  if (!isUtf8(bytes)) throw new S3Error('MalformedXML');
  return bytes.toString('utf8');
}

function bodyBytes(headers: Headers, isChunked: boolean): number {
  const name = isChunked ? 'x-amz-decoded-content-length' : 'content-length';
  const text = headers.get(name);
  if (text === null) {
    if (!isChunked && !headers.has('transfer-encoding')) return 0;
    throw new S3Error('MissingContentLength');
  }
  if (!/^\d{1,15}$/.test(text)) throw new S3Error('InvalidArgument', `${name} must be a number`);
  return Number(text);
}

function md5Header(headers: Headers): Buffer | null {
  const text = headers.get('content-md5');
  if (text === null) return null;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== 16) throw new S3Error('InvalidDigest');
  return bytes;
}

function claimedChecksum(headers: Headers): { algorithm: ChecksumAlgorithm; value: string } | null {
  const found = ALGORITHMS.filter((algorithm) => headers.has(checksumHeader(algorithm)));
  if (found.length > 1) throw new S3Error('InvalidRequest', 'Expecting a single x-amz-checksum- header');
  const algorithm = found[0];
  return algorithm
    ? { algorithm, value: requireChecksumText(algorithm, headers.get(checksumHeader(algorithm))!) }
    : null;
}

function trailerOf(headers: Headers, payload: Payload): ChecksumAlgorithm | null {
  const name = headers.get('x-amz-trailer');
  if (name === null) return null;
  if (payload.kind === 'unsigned' || payload.kind === 'hashed')
    throw new S3Error('InvalidRequest', 'x-amz-trailer needs a body in chunks');
  const algorithm = ALGORITHMS.find((one) => checksumHeader(one) === name.toLowerCase());
  if (!algorithm)
    throw new S3Error('InvalidRequest', `The value specified in the x-amz-trailer header is not supported`);
  return algorithm;
}
