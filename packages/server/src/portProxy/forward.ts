import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { PortAccess } from '../containerAccess/accessibleContainer.ts';
import { type RawHeaders, requestHeaders, responseHeaders, responseTrailers } from './headers.ts';
import { RefusedPort } from './pages.ts';
import type { PortAgentOptions, PortAgents } from './portAgent.ts';

/** Frameworks send large cookies and tokens. */
const MAX_HEADER_BYTES = 64 * 1024;

export interface Passing {
  request: IncomingMessage;
  response: ServerResponse;
  target: PortAccess;
  agents: PortAgents;
  host: string;
  protocol: string;
  ip: string;
  /** Aborted: the visitor has gone, or may no longer be served. */
  ended: AbortSignal;
  /** The container begins its answer. */
  onAnswer(): void;
}

/** Passes a request on to a port, and its answer back. Resolves when the answer is sent. Throws what refuses it. */
export async function forward(passing: Passing): Promise<void> {
  const { request } = passing;
  const framing = framingOf(request);
  try {
    await attempt(passing, framing, { isFresh: framing.hasBody || !isSafe(request) });
  } catch (error) {
    // The server closed an idle connection at the moment in which it was used: nothing has been done.
    if (!(error instanceof StaleConnection)) throw error;
    await attempt(passing, framing, { isFresh: true });
  }
}

class StaleConnection extends Error {}

/** A request without a body, and without effects, can be repeated on another connection. */
const isSafe = ({ method }: IncomingMessage): boolean => ['GET', 'HEAD', 'OPTIONS'].includes(method ?? '');

interface Framing {
  headers: RawHeaders;
  hasBody: boolean;
}

/** Node's parser has refused requests whose length is ambiguous. */
function framingOf({ method, headers }: IncomingMessage): Framing {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked') throw new RefusedPort('invalid');
    return { headers: ['Transfer-Encoding', 'chunked'], hasBody: true };
  }
  const length = headers['content-length'];
  if (length !== undefined) return { headers: ['Content-Length', length], hasBody: Number(length) > 0 };
  const isEmpty = method === 'POST' || method === 'PUT' || method === 'PATCH';
  return { headers: isEmpty ? ['Content-Length', '0'] : [], hasBody: false };
}

function attempt(passing: Passing, framing: Framing, { isFresh }: { isFresh: boolean }): Promise<void> {
  const { request, response, ended } = passing;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = [...requestHeaders(request.rawHeaders, { ...passing, isWebSocket: false }), ...framing.headers];
  const onward = openRequest(passing, headers, isFresh);
  const leave = (): void => void onward.destroy();
  ended.addEventListener('abort', leave, { once: true });
  if (ended.aborted) leave();
  let hasAnswer = false;
  onward.on('information', (info) => tellEarly(info, request, response));
  onward.once('response', (answer) => {
    hasAnswer = true;
    passing.onAnswer();
    sendAnswer(answer, response).then(resolve, reject);
  });
  onward.on('error', (error) => {
    if (hasAnswer) return;
    const isStale = onward.reusedSocket && !isFresh && !ended.aborted;
    reject(isStale ? new StaleConnection('stale', { cause: error }) : brokenOff(error));
  });
  onward.once('close', () => {
    if (!hasAnswer) reject(new RefusedPort('broken'));
  });
  if (framing.hasBody) sendBody(request, onward);
  else onward.end();
  return promise.finally(() => {
    ended.removeEventListener('abort', leave);
    if (!onward.writableFinished) onward.destroy();
  });
}

function openRequest(passing: Passing, headers: RawHeaders, isFresh: boolean): ClientRequest {
  const { request, target, agents } = passing;
  const options: PortAgentOptions = {
    method: request.method,
    path: request.url,
    // As pairs in one list, so that nothing is added, merged or spelled anew.
    headers: headers as unknown as PortAgentOptions['headers'],
    maxHeaderSize: MAX_HEADER_BYTES,
    target,
    agent: isFresh ? agents.single : agents.reusing,
  };
  try {
    return httpRequest(options);
  } catch (cause) {
    throw new RefusedPort('invalid', { cause });
  }
}

/**
 * Not a pipeline: it would destroy the visitor's connection when the container answers before it has read everything, and
 * closes. What comes after that is dropped.
 */
function sendBody(request: IncomingMessage, onward: ClientRequest): void {
  request.pipe(onward, { end: false });
  request.once('end', () => {
    if (onward.destroyed) return;
    // Its trailers are left out: a program may merge them with the headers, where they would be the platform's word.
    onward.end();
  });
  // A visitor who has gone: `ended` says so.
  request.on('error', () => {});
  onward.once('close', () => {
    request.unpipe(onward);
    request.resume();
  });
}

async function sendAnswer(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  const { statusCode = 502, statusMessage = '' } = answer;
  const reason = /^[\t\x20-\x7e]*$/.test(statusMessage) ? statusMessage : '';
  try {
    response.writeHead(statusCode, reason, responseHeaders(answer.rawHeaders));
    response.flushHeaders();
  } catch (cause) {
    answer.destroy();
    throw new RefusedPort('broken', { cause });
  }
  await pipeline(answer, response, { end: false });
  const trailers = responseTrailers(answer.rawTrailers);
  if (trailers.length > 0) response.addTrailers(trailers);
  response.end();
}

/** 103 (early hints) and 102 (processing). 100 is between the container and the platform. */
function tellEarly(
  { statusCode, headers }: { statusCode: number; headers: NodeJS.Dict<string | string[]> },
  { httpVersion }: IncomingMessage,
  response: ServerResponse,
): void {
  if (response.headersSent || httpVersion === '1.0') return;
  try {
    if (statusCode === 102) response.writeProcessing();
    if (statusCode === 103 && headers.link) response.writeEarlyHints({ link: headers.link });
  } catch {
    // A link that is none: a hint may be left out.
  }
}

/** A refusal of the stream stays what it is. */
export function brokenOff(error: Error): Error {
  const { code } = error as NodeJS.ErrnoException;
  const isOfTheConnection = code !== undefined && /^(?:E[A-Z]+|HPE_.*|ERR_.*)$/.test(code);
  return isOfTheConnection ? new RefusedPort('broken', { cause: error }) : error;
}
