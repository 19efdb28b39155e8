import { timingSafeEqual } from 'node:crypto';
import type { S3Backend, S3Key } from './backend.ts';
import { S3Error } from './errors.ts';
import { fromWire, type S3Request } from './request.ts';
import { ALGORITHM, encodeKey, type Scope, signingKey, signRequest, timestampOf } from './signature.ts';

const SKEW_MS = 15 * 60_000;
const MAX_EXPIRES_S = 7 * 86_400;
const SHA256_HEX = /^[0-9a-f]{64}$/;
const ACCESS_KEY_ID = /^[A-Za-z0-9_-]{3,128}$/;
const TIMESTAMP = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;

const OTHER_MECHANISM = `Please use ${ALGORITHM} as the authorization mechanism`;

/** How the body of a request is protected. */
export type Payload =
  | { kind: 'unsigned' }
  /** Hex SHA-256 of all of it. */
  | { kind: 'hashed'; sha256: string }
  /** In chunks (aws-chunked), each signed with the one before it. */
  | { kind: 'signed chunks'; hasTrailer: boolean; seed: ChunkSeed }
  | { kind: 'unsigned chunks' };

/** What the signature of the first chunk is chained to. */
export interface ChunkSeed {
  signature: string;
  signingKey: Buffer;
  timestamp: string;
  scope: Scope;
}

export interface Authenticated {
  key: S3Key;
  payload: Payload;
}

/** Checks the signature of a request, in its header or its query. Throws `S3Error`. */
export async function authenticate(
  request: S3Request,
  backend: Pick<S3Backend, 'findKey'>,
  now: Date,
): Promise<Authenticated> {
  const inHeader = request.headers.has('authorization');
  const inQuery = request.query.has('X-Amz-Signature') || request.query.has('X-Amz-Algorithm');
  if (inHeader && inQuery)
    throw new S3Error('InvalidArgument', 'Only one auth mechanism allowed: the header or the query');
  if (!inHeader && !inQuery) throw refusalOfUnsigned(request);
  const claim = inHeader ? claimOfHeader(request, now) : claimOfQuery(request, now);
  requireSignedHeaders(request, claim);
  const key = ACCESS_KEY_ID.test(claim.accessKeyId) ? await backend.findKey(claim.accessKeyId) : null;
  if (!key) throw new S3Error('InvalidAccessKeyId');
  if (!isSigned(request, claim, key.secretAccessKey)) throw new S3Error('SignatureDoesNotMatch');
  return { key, payload: payloadOf(claim, key.secretAccessKey) };
}

/** Clients that sign with version 2 or send a form are told so: "Access Denied" would send them to look for another key. */
function refusalOfUnsigned({ method, query, headers }: S3Request): S3Error {
  if (query.has('AWSAccessKeyId') || query.has('Signature')) return new S3Error('InvalidRequest', OTHER_MECHANISM);
  const isForm = method === 'POST' && /^multipart\/form-data\b/i.test(headers.get('content-type') ?? '');
  if (isForm)
    return new S3Error('NotImplemented', `Uploads by a form are not supported: presign a PUT with ${ALGORITHM}`);
  return new S3Error('AccessDenied');
}

interface Claim {
  accessKeyId: string;
  scope: Scope;
  timestamp: string;
  signedHeaders: string[];
  signature: string;
  payloadHash: string;
}

function claimOfHeader({ headers }: S3Request, now: Date): Claim {
  const header = headers.values.get('authorization')!;
  if (header.length > 1) throw new S3Error('InvalidArgument', 'There is more than one authorization header');
  if (!header[0]!.startsWith(`${ALGORITHM} `)) throw new S3Error('InvalidRequest', OTHER_MECHANISM);
  const parts = new Map<string, string>();
  for (const part of header[0]!.slice(ALGORITHM.length + 1).split(',')) {
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(equals, 0)).trimStart();
    if (!/^[A-Za-z]+$/.test(name) || parts.has(name)) throw new S3Error('AuthorizationHeaderMalformed');
    parts.set(name, part.slice(equals + 1).trimEnd());
  }
  const { timestamp, time } = timestampOfHeaders(headers.get('x-amz-date'), headers.get('date'));
  const payloadHash = headers.get('x-amz-content-sha256');
  if (payloadHash === null)
    throw new S3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
  const claim = {
    ...credential(parts.get('Credential') ?? '', 'AuthorizationHeaderMalformed'),
    timestamp,
    signedHeaders: (parts.get('SignedHeaders') ?? '').split(';'),
    signature: parts.get('Signature') ?? '',
    payloadHash,
  };
  if (Math.abs(time - now.getTime()) > SKEW_MS) throw new S3Error('RequestTimeTooSkewed');
  return requireScopeDate(claim, 'AuthorizationHeaderMalformed');
}

function claimOfQuery({ query, headers }: S3Request, now: Date): Claim {
  const wrong = 'AuthorizationQueryParametersError';
  const value = (name: string): string => {
    if (query.count(name) !== 1) throw new S3Error(wrong, `Query parameter ${name} is required once`);
    return query.get(name)!;
  };
  if (value('X-Amz-Algorithm') !== ALGORITHM) throw new S3Error(wrong, `X-Amz-Algorithm only supports "${ALGORITHM}"`);
  const timestamp = value('X-Amz-Date');
  const start = timeOf(timestamp);
  if (start === null) throw new S3Error(wrong, 'X-Amz-Date must be in the format YYYYMMDDTHHMMSSZ');
  const expires = value('X-Amz-Expires');
  if (!/^\d{1,7}$/.test(expires) || Number(expires) < 1 || Number(expires) > MAX_EXPIRES_S)
    throw new S3Error(wrong, `X-Amz-Expires must be between 1 and ${MAX_EXPIRES_S} seconds`);
  if (start - now.getTime() > SKEW_MS) throw new S3Error('AccessDenied', 'Request is not valid yet');
  if (now.getTime() > start + Number(expires) * 1000) throw new S3Error('AccessDenied', 'Request has expired');
  return requireScopeDate(
    {
      ...credential(value('X-Amz-Credential'), wrong),
      timestamp,
      signedHeaders: value('X-Amz-SignedHeaders').split(';'),
      signature: value('X-Amz-Signature'),
      payloadHash: headers.get('x-amz-content-sha256') ?? query.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD',
    },
    wrong,
  );
}

type Malformed = 'AuthorizationHeaderMalformed' | 'AuthorizationQueryParametersError';

/** Any region is accepted: a client may have been configured for one that means nothing here. */
function credential(text: string, code: Malformed): { accessKeyId: string; scope: Scope } {
  const [, accessKeyId, date, region] = /^([^/]+)\/(\d{8})\/([a-z0-9-]{1,64})\/s3\/aws4_request$/.exec(text) ?? [];
  if (!accessKeyId || !date || !region)
    throw new S3Error(code, 'The credential must be <access key id>/YYYYMMDD/<region>/s3/aws4_request');
  return { accessKeyId, scope: { date, region } };
}

function requireScopeDate(claim: Claim, code: Malformed): Claim {
  if (!claim.timestamp.startsWith(claim.scope.date))
    throw new S3Error(code, 'The date of the credential is not that of the request');
  return claim;
}

function timestampOfHeaders(amzDate: string | null, date: string | null): { timestamp: string; time: number } {
  const exact = amzDate === null ? null : timeOf(amzDate);
  if (amzDate !== null && exact !== null) return { timestamp: amzDate, time: exact };
  const text = amzDate ?? date;
  const time = text === null ? null : timeOfHttp(text);
  if (time === null) throw new S3Error('AccessDenied', 'A valid x-amz-date or Date header is required');
  return { timestamp: timestampOf(new Date(time)), time };
}

/** The time of `Sun, 29 Nov 2026 12:00:00 GMT` (RFC 9110, 5.6.7); null where that is none. */
function timeOfHttp(text: string): number | null {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toUTCString() === text ? time : null;
}

/** The time of `YYYYMMDDTHHMMSSZ`; null where that is none, such as the 31st of February or 24:00. */
function timeOf(timestamp: string): number | null {
  const [, year, month, day, hour, minute, second] = TIMESTAMP.exec(timestamp) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return !Number.isNaN(time) && timestampOf(new Date(time)) === timestamp ? time : null;
}

/** What S3 gives a meaning must be signed, or somebody in between could add it. */
function requireSignedHeaders({ headers }: S3Request, { signedHeaders }: Claim): void {
  const signed = new Set(signedHeaders);
  // Each time its value would be read anew: a short request could cost seconds.
  if (signed.size < signedHeaders.length) throw new S3Error('AccessDenied', 'A signed header is named twice');
  const needed = ['host', ...[...headers.values.keys()].filter((name) => name.startsWith('x-amz-'))];
  const missing = needed.filter((name) => !signed.has(name));
  if (missing.length > 0)
    throw new S3Error(
      'AccessDenied',
      `There were headers present in the request which were not signed: ${missing.join(', ')}`,
    );
}

function isSigned(request: S3Request, claim: Claim, secret: string): boolean {
  if (!SHA256_HEX.test(claim.signature)) return false;
  const headers = claim.signedHeaders.map((name) => [name, fromWire(request.headers.get(name) ?? '')] as const);
  const query = request.query.pairs.filter(([name]) => name !== 'X-Amz-Signature');
  // S3 encodes the decoded path anew; some clients sign what they sent. Both name the same key.
  const paths = new Set([encodeKey(request.path), request.encodedPath]);
  return [...paths].some((encodedPath) => {
    const expected = signRequest(
      { method: request.method, encodedPath, query, headers, payloadHash: claim.payloadHash },
      secret,
      claim.scope,
      claim.timestamp,
    );
    return timingSafeEqual(Buffer.from(expected, 'hex'), Buffer.from(claim.signature, 'hex'));
  });
}

function payloadOf(claim: Claim, secret: string): Payload {
  const { payloadHash } = claim;
  switch (payloadHash) {
    case 'UNSIGNED-PAYLOAD':
      return { kind: 'unsigned' };
    case 'STREAMING-UNSIGNED-PAYLOAD-TRAILER':
      return { kind: 'unsigned chunks' };
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD':
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER':
      return {
        kind: 'signed chunks',
        hasTrailer: payloadHash.endsWith('TRAILER'),
        seed: {
          signature: claim.signature,
          signingKey: signingKey(secret, claim.scope),
          timestamp: claim.timestamp,
          scope: claim.scope,
        },
      };
  }
  if (payloadHash.startsWith('STREAMING-')) throw new S3Error('NotImplemented');
  if (!SHA256_HEX.test(payloadHash))
    throw new S3Error(
      'InvalidArgument',
      'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a STREAMING- value, or a valid sha256 value',
    );
  return { kind: 'hashed', sha256: payloadHash };
}
