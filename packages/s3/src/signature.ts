import { createHash, createHmac } from 'node:crypto';

/**
 * AWS Signature Version 4 as S3 uses it: canonical requests, keys and signatures, for those who sign and those who check.
 * Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 */
export const ALGORITHM = 'AWS4-HMAC-SHA256';

export interface CanonicalRequest {
  method: string;
  /** As sent: percent-encoded once, never normalised. */
  encodedPath: string;
  /** Decoded; without the signature itself. */
  query: readonly (readonly [name: string, value: string])[];
  /** Those that are signed, lower-case. */
  headers: readonly (readonly [name: string, value: string])[];
  /** Hex SHA-256 of the body, or one of the words S3 has for a body that is not hashed. */
  payloadHash: string;
}

/** What a signature is valid for: `20261123/us-east-1/s3/aws4_request`. */
export interface Scope {
  /** YYYYMMDD. */
  date: string;
  region: string;
}

export const scopeText = ({ date, region }: Scope): string => `${date}/${region}/s3/aws4_request`;

export function canonicalText({ method, encodedPath, query, headers, payloadHash }: CanonicalRequest): string {
  const sorted = headers.toSorted(([a], [b]) => compare(a, b));
  return [
    method,
    encodedPath,
    canonicalQuery(query),
    ...sorted.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    sorted.map(([name]) => name).join(';'),
    payloadHash,
  ].join('\n');
}

/** Hex. `timestamp` is YYYYMMDDTHHMMSSZ. */
export function signRequest(request: CanonicalRequest, secret: string, scope: Scope, timestamp: string): string {
  const text = [ALGORITHM, timestamp, scopeText(scope), sha256(canonicalText(request))].join('\n');
  return hmac(signingKey(secret, scope), text).toString('hex');
}

export function signingKey(secret: string, { date, region }: Scope): Buffer {
  return [date, region, 's3', 'aws4_request'].reduce<Buffer>(
    (key, part) => hmac(key, part),
    Buffer.from(`AWS4${secret}`, 'utf8'),
  );
}

/** YYYYMMDDTHHMMSSZ. */
export const timestampOf = (time: Date): string => time.toISOString().replace(/[-:]|\.\d{3}/g, '');

export const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text, 'utf8').digest();

export const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** Everything but unreserved characters is percent-encoded, in upper-case hex. */
export const uriEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** A key as a path: slashes stay. */
export const encodeKey = (key: string): string => key.split('/').map(uriEncode).join('/');

function canonicalQuery(query: CanonicalRequest['query']): string {
  return query
    .map(([name, value]) => [uriEncode(name), uriEncode(value)] as const)
    .toSorted(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** By code point, as the encoded texts are ASCII. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
