import { ALGORITHM, encodeKey, scopeText, signRequest, timestampOf, uriEncode } from './signature.ts';

export interface PresignRequest {
  /** Scheme, host and port of the service. */
  origin: string;
  bucket: string;
  key: string;
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Such as `partNumber` and `uploadId`, or `response-content-disposition`. */
  query?: Record<string, string>;
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
  /** At most 7 days. */
  expiresInSeconds: number;
  now: Date;
}

/** A URL in path style that whoever has it may use until it expires; its body is not signed. */
export function presignUrl(request: PresignRequest): string {
  const { origin, bucket, key, method, accessKeyId, secretAccessKey, region, now } = request;
  const timestamp = timestampOf(now);
  const scope = { date: timestamp.slice(0, 8), region };
  const encodedPath = `/${bucket}/${encodeKey(key)}`;
  const query = [
    ...Object.entries(request.query ?? {}),
    ['X-Amz-Algorithm', ALGORITHM],
    ['X-Amz-Credential', `${accessKeyId}/${scopeText(scope)}`],
    ['X-Amz-Date', timestamp],
    ['X-Amz-Expires', String(request.expiresInSeconds)],
    ['X-Amz-SignedHeaders', 'host'],
  ] as [string, string][];
  const signature = signRequest(
    {
      method,
      encodedPath,
      query,
      headers: [['host', new URL(origin).host]],
      payloadHash: 'UNSIGNED-PAYLOAD',
    },
    secretAccessKey,
    scope,
    timestamp,
  );
  const text = [...query, ['X-Amz-Signature', signature] as const]
    .map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`)
    .join('&');
  return `${origin}${encodedPath}?${text}`;
}
