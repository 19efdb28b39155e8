import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';

const IDLE_TIMEOUT_MS = 60_000;

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT';
  headers?: Record<string, string>;
  body?: Buffer;
  signal: AbortSignal;
}

/**
 * Resolves with the head of the answer; its body must be read or destroyed. A connection over which no byte moves for a
 * minute is ended; there is no limit to the whole. Redirects are not followed. No error names the address, which may
 * hold a signature.
 */
export function sendRequest(url: string, { method, headers, body, signal }: HttpRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const address = new URL(url);
  const send = address.protocol === 'https:' ? tlsRequest : plainRequest;
  const request = send(address, {
    method,
    headers: { ...headers, ...(body ? { 'content-length': body.length } : {}) },
    timeout: IDLE_TIMEOUT_MS,
    signal,
  });
  request.on('response', resolve);
  request.on('timeout', () => request.destroy(new Error(`no byte for ${IDLE_TIMEOUT_MS / 1000} s`)));
  // After the answer has begun, its own stream tells of errors.
  request.on('error', reject);
  request.end(body);
  return promise;
}

/** The whole body as text; throws when it is longer than `limit` bytes. */
export async function readText(response: IncomingMessage, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > limit) throw new Error('the answer is too long');
  }
  return Buffer.concat(chunks).toString();
}
