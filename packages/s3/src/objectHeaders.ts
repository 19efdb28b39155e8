import { validateHeaderValue } from 'node:http';
import type { Checksum, ObjectAttributes, S3Object } from './backend.ts';
import { checksumHeader } from './checksums.ts';
import { S3Error } from './errors.ts';
import type { Headers, S3Request } from './request.ts';
import { checkTags } from './tags.ts';

const MAX_METADATA_BYTES = 2_048;
const METADATA = 'x-amz-meta-';
/** A client that knows no type sends none, or this, which S3 itself stores then. */
export const NO_TYPE = 'binary/octet-stream';
const KEPT = ['cache-control', 'content-disposition', 'content-language', 'expires'];
const ACLS = new Set(['private', 'bucket-owner-full-control', 'bucket-owner-read']);
const UNSUPPORTED = [
  'x-amz-server-side-encryption',
  'x-amz-object-lock',
  'x-amz-website-redirect-location',
  'x-amz-copy-source-server-side-encryption',
];

/** Content headers, metadata and tags of a write. Throws `S3Error`, also for what this service does not have. */
export function attributesOf(headers: Headers, typeOfName: () => string | null): ObjectAttributes {
  refuseUnsupported(headers);
  const kept: Record<string, string> = { 'content-type': storedType(headers.get('content-type'), typeOfName) };
  for (const name of KEPT) {
    const value = headers.get(name);
    if (value) kept[name] = value;
  }
  const encoding = storedEncoding(headers.get('content-encoding'));
  if (encoding !== '') kept['content-encoding'] = encoding;
  return { headers: kept, metadata: metadataOf(headers), tags: tagsOfHeader(headers) };
}

/** The type that the client gave, or else the one that the object's name stands for. */
function storedType(given: string | null, typeOfName: () => string | null): string {
  return given && given !== NO_TYPE ? given : (typeOfName() ?? NO_TYPE);
}

function refuseUnsupported(headers: Headers): void {
  const acl = headers.get('x-amz-acl');
  if ((acl !== null && !ACLS.has(acl)) || headers.startingWith('x-amz-grant-').length > 0)
    throw new S3Error('AccessControlListNotSupported');
  const storageClass = headers.get('x-amz-storage-class');
  if (storageClass !== null && storageClass !== 'STANDARD') throw new S3Error('InvalidStorageClass');
  for (const prefix of UNSUPPORTED)
    if (headers.startingWith(prefix).length > 0) throw new S3Error('NotImplemented', `${prefix} is not supported`);
}

/** `aws-chunked` is the encoding of the request alone. */
const storedEncoding = (text: string | null): string =>
  (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && one.toLowerCase() !== 'aws-chunked')
    .join(', ');

function metadataOf(headers: Headers): Record<string, string> {
  const metadata = headers.startingWith(METADATA);
  const bytes = metadata.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (bytes > MAX_METADATA_BYTES) throw new S3Error('MetadataTooLarge');
  return Object.fromEntries(metadata);
}

function tagsOfHeader(headers: Headers): Record<string, string> {
  const text = headers.get('x-amz-tagging');
  return text === null ? {} : checkTags([...new URLSearchParams(text)]);
}

/** What a read of the object says of it, whole or in part. */
export function objectHeaders(object: S3Object, { headers, query }: S3Request): Record<string, string> {
  const tags = Object.keys(object.tags).length;
  return {
    ...object.headers,
    ...overrides(query.pairs),
    ...Object.fromEntries(Object.entries(object.metadata).map(([name, value]) => [METADATA + name, value])),
    'accept-ranges': 'bytes',
    'last-modified': object.modifiedAt.toUTCString(),
    etag: `"${object.etag}"`,
    ...(tags > 0 && { 'x-amz-tagging-count': String(tags) }),
    ...(headers.get('x-amz-checksum-mode')?.toUpperCase() === 'ENABLED' && checksumHeaders(object.checksum)),
  };
}

export const checksumHeaders = (checksum: Checksum | null): Record<string, string> =>
  checksum === null
    ? {}
    : { [checksumHeader(checksum.algorithm)]: checksum.value, 'x-amz-checksum-type': checksum.type };

/** `response-content-type` and the like. */
function overrides(pairs: S3Request['query']['pairs']): Record<string, string> {
  const NAMES = [...KEPT, 'content-type', 'content-encoding'];
  const found: Record<string, string> = {};
  for (const [parameter, value] of pairs) {
    const name = NAMES.find((one) => parameter === `response-${one}`);
    if (!name) continue;
    // HTTP carries bytes: those of UTF-8.
    const wire = Buffer.from(value, 'utf8').toString('latin1');
    try {
      validateHeaderValue(name, wire);
    } catch {
      throw new S3Error('InvalidArgument', `${parameter} is not valid in a header`);
    }
    found[name] = wire;
  }
  return found;
}
