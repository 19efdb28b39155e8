import { createHash } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { ALGORITHM, encodeKey, scopeText, signRequest, timestampOf, uriEncode } from '@stagi/s3/signature.ts';

export interface RawRequest {
  method?: string;
  /** Decoded; or `encodedPath`, sent and signed as it is. */
  path?: string;
  encodedPath?: string;
  query?: [string, string][];
  headers?: [string, string][];
  body?: string | Buffer;
  /** What the signature says of the body; its hash if left out. */
  payloadHash?: string;
  time?: Date;
  region?: string;
  /** Headers and query that are sent but not signed. */
  unsigned?: { headers?: [string, string][]; query?: string };
  /** Last changes to what is sent: method, target, headers. */
  tamper?: (sent: SentRequest) => unknown;
}

export interface SentRequest {
  method: string;
  target: string;
  headers: [string, string][];
  body: Buffer;
}

export interface RawAnswer {
  status: number;
  code: string | null;
  body: string;
}

const hex = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

/** The signature of a request in its header, as a client without any library makes it. */
export function signed(
  origin: string,
  key: { accessKeyId: string; secretAccessKey: string },
  raw: RawRequest,
): SentRequest & { signature: string; timestamp: string; region: string } {
  const { method = 'GET', query = [], time = new Date(), region = 'us-east-1' } = raw;
  const body = Buffer.from(raw.body ?? '');
  const encodedPath = raw.encodedPath ?? encodeKey(raw.path ?? '/');
  const timestamp = timestampOf(time);
  const scope = { date: timestamp.slice(0, 8), region };
  const payloadHash = raw.payloadHash ?? hex(body);
  const headers: [string, string][] = [
    ['host', new URL(origin).host],
    ['x-amz-date', timestamp],
    ['x-amz-content-sha256', payloadHash],
    ...(raw.headers ?? []),
  ];
  const signature = signRequest(
    { method, encodedPath, query, headers, payloadHash },
    key.secretAccessKey,
    scope,
    timestamp,
  );
  const names = headers.map(([name]) => name).toSorted();
  const authorization = `${ALGORITHM} Credential=${key.accessKeyId}/${scopeText(scope)}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  const text = [
    ...query.map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`),
    ...(raw.unsigned?.query ? [raw.unsigned.query] : []),
  ].join('&');
  const sent: SentRequest = {
    method,
    target: encodedPath + (text === '' ? '' : `?${text}`),
    headers: [
      ...headers,
      ['authorization', authorization],
      ...(raw.unsigned?.headers ?? []),
      ...(body.length > 0 || method === 'PUT' || method === 'POST'
        ? ([['content-length', String(body.length)]] as [string, string][])
        : []),
    ],
    body,
  };
  raw.tamper?.(sent);
  return { ...sent, signature, timestamp, region };
}

/** Sends exactly these headers and this target. */
export function send(origin: string, { method, target, headers, body }: SentRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const asked = httpRequest(
      { hostname, port, method, path: target, headers: headers.flat(), setHost: false, agent: false },
      async (answer: IncomingMessage) => {
        const parts: Buffer[] = [];
        try {
          for await (const part of answer) parts.push(part as Buffer);
        } catch {
          // The service closes the connection of a body that it refuses: what it said is here.
        }
        const text = Buffer.concat(parts).toString();
        const code = /<Code>([A-Za-z0-9]+)<\/Code>/.exec(text)?.[1] ?? null;
        resolve({ status: answer.statusCode!, code, body: text });
      },
    );
    asked.once('error', reject);
    asked.end(body);
  });
}

export const ask = (origin: string, key: { accessKeyId: string; secretAccessKey: string }, raw: RawRequest) =>
  send(origin, signed(origin, key, raw));
