import { Agent, type ClientRequestArgs, request as httpRequest, type IncomingMessage } from 'node:http';
import { type Duplex, finished } from 'node:stream';
import { text } from '@stagi/contract/text.ts';
import type { Context } from '../context.ts';
import { asSocket } from '../portProxy/portAgent.ts';

/** Where an engine listens: the daemon of its server checks that the container publishes this port. */
export interface EngineAddress {
  instanceId: number;
  containerId: number;
  port: number;
  key: string | null;
}

/** An engine that cannot be reached, or does not answer as its API says. Its message may be shown. */
export class EngineError extends Error {}

export interface Question {
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
  /** Ends the request and its answer. What is waited for then throws its reason. */
  signal: AbortSignal;
}

/** Answers before the answer (1xx) that an engine may send. */
const MOST_BEFORE = 10;

/**
 * One request to an engine, over a stream to the daemon of its server. Resolves with the beginning of its answer, whatever
 * its status: redirects are not followed. The stream ends with the answer. Throws StreamRefused where the stream is
 * refused, else EngineError.
 */
export async function askEngine(
  { streams }: Pick<Context, 'streams'>,
  { instanceId, containerId, port, key }: EngineAddress,
  { method, path, body, signal }: Question,
): Promise<IncomingMessage> {
  const stream = await streams.open(instanceId, { kind: 'port', containerId, port });
  const payload = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const answer = Promise.withResolvers<IncomingMessage>();
  const asked = httpRequest({
    method,
    path,
    signal,
    headers: {
      // Engines that check it know this name.
      host: `localhost:${port}`,
      connection: 'close',
      ...(key && { authorization: `Bearer ${key}` }),
      ...(payload && { 'content-type': 'application/json', 'content-length': payload.length }),
    },
    agent: new OneStream(stream),
  });
  let before = 0;
  asked.on('information', () => {
    before += 1;
    if (before > MOST_BEFORE) asked.destroy(new EngineError(NO_HTTP));
  });
  asked.once('response', (response) => {
    // Else a stream whose other end stays open would stay too.
    finished(response, () => stream.destroy());
    answer.resolve(response);
  });
  // Also once it has answered: an error that nobody hears ends the process.
  asked.on('error', (cause) => answer.reject(signal.aborted ? signal.reason : engineError(cause)));
  asked.once('close', () => answer.reject(signal.aborted ? signal.reason : new EngineError(NOT_ANSWERING)));
  asked.end(payload ?? undefined);
  return answer.promise.catch((error: unknown) => {
    stream.destroy();
    throw error;
  });
}

const NOT_ANSWERING = text('The engine does not answer yet');
const NO_HTTP = text('What the engine answers is not HTTP');

function engineError(cause: NodeJS.ErrnoException): EngineError {
  if (cause instanceof EngineError) return cause;
  return new EngineError(cause.code?.startsWith('HPE_') ? NO_HTTP : NOT_ANSWERING, { cause });
}

/** An agent for one request on a stream that is open already. */
class OneStream extends Agent {
  readonly #stream: Duplex;
  constructor(stream: Duplex) {
    super({ keepAlive: false });
    this.#stream = stream;
  }
  override createConnection(_options: ClientRequestArgs): Duplex {
    return asSocket(this.#stream);
  }
}

/** The parts of an answer. Throws the reason of `signal` where that ended it, EngineError where it broke off or is longer. */
export async function* partsOf(answer: IncomingMessage, most: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > most) throw new EngineError(text('The engine answered with more than it should'));
      yield part;
    }
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw cause instanceof EngineError ? cause : new EngineError(text('The answer broke off'), { cause });
  }
  // An answer that the signal ended may look whole.
  if (signal.aborted) throw signal.reason;
}

const SHORT_BYTES = 256 * 1024;

/** The body of a short answer, read to its end within the time of `signal`. */
export async function readShort(answer: IncomingMessage, signal: AbortSignal): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of partsOf(answer, SHORT_BYTES, signal)) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
