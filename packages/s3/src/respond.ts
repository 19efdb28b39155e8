import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Answer } from './call.ts';
import type { S3Error } from './errors.ts';
import { xmlError } from './xml.ts';

/** What users stored is never run as a page of this origin. */
const ALWAYS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  // A signed link is a key: it must not be told to where an object leads.
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'cross-origin',
};
/** How long the rest of a refused body is read, so that the client gets to read the refusal. */
const DRAIN_MS = 2_000;

export interface Reply {
  requestId: string;
  /** Besides those of the answer. */
  headers: Record<string, string>;
}

export async function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  { requestId, headers }: Reply,
): Promise<void> {
  const { body } = answer;
  const isXml = typeof body === 'string';
  response.strictContentLength = true;
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(isXml && {
      'content-type': 'application/xml',
      'content-length': String(Buffer.byteLength(body)),
      // Lists and settings; objects are no text here.
      'cache-control': 'no-store',
    }),
    ...(body === undefined &&
      answer.headers?.['content-length'] === undefined &&
      hasLength(answer.status) && { 'content-length': '0' }),
    ...headers,
    ...ALWAYS,
    'x-amz-request-id': requestId,
  });
  if (isXml || body === undefined) response.end(body);
  else await pipeline(body, response);
}

const hasLength = (status: number): boolean => status !== 204 && status !== 304;

/** An error as XML; without a body where the request allows none. */
export async function sendError(
  message: IncomingMessage,
  response: ServerResponse,
  error: S3Error,
  { requestId, headers }: Reply,
): Promise<void> {
  const body = xmlError([
    ['Code', error.code],
    ['Message', error.message],
    ...Object.entries(error.details),
    ['Resource', message.url?.split('?')[0] ?? '/'],
    ['RequestId', requestId],
  ]);
  const { ActualObjectSize: size } = error.details;
  const isUnread = !message.complete;
  response.writeHead(error.status, {
    'content-type': 'application/xml',
    'content-length': String(Buffer.byteLength(body)),
    // An object that is missing now may be there next.
    'cache-control': 'no-store',
    ...(error.code === 'InvalidRange' && size !== undefined && { 'content-range': `bytes */${size}` }),
    ...(error.status === 503 && { 'retry-after': '2' }),
    ...(isUnread && { connection: 'close' }),
    ...headers,
    ...ALWAYS,
    'x-amz-request-id': requestId,
  });
  if (isUnread) {
    response.write(message.method === 'HEAD' ? '' : body);
    await drain(message);
    response.end();
  } else response.end(message.method === 'HEAD' ? undefined : body);
}

async function drain(message: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, DRAIN_MS);
  message.once('end', resolve).once('close', resolve).resume();
  await promise;
  clearTimeout(timer);
}
