import { Agent, type ClientRequestArgs, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
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
  signal: AbortSignal;
}

/**
 * One request to an engine, over a stream to the daemon of its server. Resolves with the beginning of its answer, whatever
 * its status. Throws StreamRefused where the stream is refused, else EngineError.
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
      accept: 'application/json, text/event-stream',
      connection: 'close',
      ...(key && { authorization: `Bearer ${key}` }),
      ...(payload && { 'content-type': 'application/json', 'content-length': payload.length }),
    },
    agent: new OneStream(stream),
  });
  asked.once('response', answer.resolve);
  asked.once('error', (cause) => {
    answer.reject(signal.aborted ? cause : new EngineError(text('The engine does not answer yet'), { cause }));
  });
  asked.end(payload ?? undefined);
  return answer.promise.catch((error: unknown) => {
    stream.destroy();
    throw error;
  });
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

/** The body of a short answer. Throws EngineError when it is longer. */
export async function readShort(answer: IncomingMessage, most = 256 * 1024): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > most) {
      answer.destroy();
      throw new EngineError(text('The engine answered with more than it should'));
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
