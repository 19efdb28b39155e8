import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { authenticate } from './authenticate.ts';
import { openBucket, requireKey } from './authorize.ts';
import type { S3Backend } from './backend.ts';
import type { Answer, S3Call } from './call.ts';
import { corsHeaders, preflight } from './cors.ts';
import { S3Error } from './errors.ts';
import { readRequest } from './request.ts';
import { type Reply, sendAnswer, sendError } from './respond.ts';
import { type Operation, operationOf } from './route.ts';
import { type Transfers, watchTransfers } from './transfers.ts';

/** A connection on which nothing moves for so long is closed, unless the service itself is at work. */
const IDLE_MS = 60_000;

const FORBIDDEN = 403;

/** Bounds connections, and what they do. */
export interface ConnectionSlots {
  /** A client has connected: of all that come from its address it is one. */
  opened(socket: Socket): void;
  /**
   * A request has come on it. Resolves when it may be authenticated; what it resolves with is called when that is done.
   * Throws `S3Error` when too many of its address wait.
   */
  begin(message: IncomingMessage): Promise<() => void>;
  /** It has shown whose it is. Throws `S3Error` when that owner has too many: it has to be closed then. */
  authenticated(message: IncomingMessage, by: { accessKeyId: string; owner: { id: string } }): void;
  /** Ends a request whose client sends or reads too slowly, until the returned function is called. */
  watch(message: IncomingMessage, response: ServerResponse): () => void;
}

export interface S3ServiceOptions {
  backend: S3Backend;
  /** Listens for the server, and answers what takes no new connections from then on and waits for the others. */
  listenAt(server: Server, host: string, port: number): Promise<() => Promise<unknown>>;
  slots: ConnectionSlots;
  /** Names below which a bucket is a label: `s3.example` for `bucket.s3.example`. */
  virtualHosts(): readonly string[];
  /** The reason not to answer a request whose `Host` header says this; null where it is one of the service's own. */
  refusalOf: (host: string) => string | null;
  /** A header of every answer behind TLS (HSTS); null elsewhere. */
  strictTransport: string | null;
  /** Origins of the platform's own web app. */
  allowedOrigins: readonly string[];
  log: { warn(details: object, message: string): void; debug(details: object, message: string): void };
  /** A request of this key was authenticated. */
  onUse?: (accessKeyId: string) => void;
  /** Somebody may not do what they ask for, or has not proved who they are. `key`: their access key, if they proved it. */
  onForbidden?: (refusal: { code: string; ip: string; key: string | null }) => void;
  /** A request has ended, with its transfer. `sent` counts headers, too. */
  onEnd?: (request: EndedRequest) => void;
  /** Whether an error of the surroundings may pass by itself: it becomes ServiceUnavailable. */
  isUnavailable?: (error: unknown) => boolean;
  now?: () => Date;
}

export interface EndedRequest {
  /** As `PUT uploadId`; `unknown` for what is none or was not authenticated. */
  operation: string;
  status: number;
  seconds: number;
  received: number;
  sent: number;
}

export interface S3Service {
  /** One port on one address. Throws what `listen` throws. */
  listen(host: string, port: number): Promise<void>;
  /** Ends open transfers. */
  close(): Promise<void>;
}

/** Serves the S3 API over HTTP. */
export function createS3Service(options: S3ServiceOptions): S3Service {
  const servers: { server: Server; stopAccepting(): Promise<unknown> }[] = [];
  const transfers = watchTransfers(options.backend, (error) =>
    options.log.warn({ err: error }, 'access keys of open transfers could not be checked'),
  );
  return {
    async listen(host, port) {
      const server = createHttpServer(options, transfers);
      servers.push({ server, stopAccepting: await options.listenAt(server, host, port) });
    },
    async close() {
      transfers.stop();
      await Promise.all(
        servers.map(({ server, stopAccepting }) => {
          const closed = Promise.all([stopAccepting(), once(server, 'close')]);
          server.close();
          server.closeAllConnections();
          return closed;
        }),
      );
    },
  };
}

function createHttpServer(options: S3ServiceOptions, transfers: Transfers): Server {
  /** The request in progress on each connection. */
  const open = new Map<Socket, ServerResponse>();
  const onRequest =
    (awaitsContinue: boolean) =>
    (message: IncomingMessage, response: ServerResponse): void => {
      const { socket } = message;
      if (options.strictTransport !== null) response.setHeader('strict-transport-security', options.strictTransport);
      open.set(socket, response);
      const unwatch = options.slots.watch(message, response);
      response.once('close', () => {
        open.delete(socket);
        unwatch();
      });
      void handle(options, transfers, message, response, awaitsContinue).catch((error: unknown) => {
        options.log.debug({ err: error }, 'an S3 answer was not sent to its end');
        socket.destroy();
      });
    };
  const server = createServer({ requestTimeout: 0, headersTimeout: IDLE_MS, keepAliveTimeout: IDLE_MS });
  server.on('request', onRequest(false));
  server.on('checkContinue', onRequest(true));
  // Other expectations are ignored, as S3 does.
  server.on('checkExpectation', onRequest(false));
  server.on('connection', (socket) => options.slots.opened(socket));
  server.setTimeout(IDLE_MS, (socket) => {
    const response = open.get(socket);
    const isWorking = response?.req.complete && !response.headersSent;
    if (!isWorking) socket.destroy();
  });
  return server;
}

async function handle(
  options: S3ServiceOptions,
  transfers: Transfers,
  message: IncomingMessage,
  response: ServerResponse,
  awaitsContinue: boolean,
): Promise<void> {
  const reply: Reply = { requestId: randomBytes(8).toString('hex').toUpperCase(), headers: {} };
  const counted = countRequest(options, message, response);
  let transfer: { end(): void } | null = null;
  let authenticated = (): void => {};
  let provenKey: string | null = null;
  try {
    authenticated = await options.slots.begin(message);
    const refusal = options.refusalOf(message.headers.host ?? '');
    if (refusal !== null) throw new S3Error('MisdirectedRequest', refusal);
    const request = readRequest(message, options.virtualHosts());
    if (request.method === 'OPTIONS') {
      reply.headers = await preflight(request, options);
      return await sendAnswer(response, { status: 200 }, reply);
    }
    reply.headers = await corsHeaders(request, options);
    const { key, payload } = await authenticate(request, options.backend, options.now?.() ?? new Date());
    authenticated();
    provenKey = key.accessKeyId;
    try {
      options.slots.authenticated(message, key);
    } catch (error) {
      reply.headers.connection = 'close';
      throw error;
    }
    options.onUse?.(key.accessKeyId);
    transfer = transfers.begin(message.socket, key.accessKeyId);
    const source = bodyOf(message, response, awaitsContinue, counted);
    const operation = operationOf(request);
    counted.operation = operation.name;
    const answer = await perform(operation, { backend: options.backend, request, by: key, payload, source });
    if (response.destroyed) return destroyBody(answer);
    await sendAnswer(response, answer, reply);
  } catch (error) {
    if (error instanceof S3Error && error.status === FORBIDDEN)
      options.onForbidden?.({ code: error.code, ip: message.socket.remoteAddress ?? '', key: provenKey });
    if (message.socket.destroyed) options.log.debug({ err: error }, 'an S3 client has gone');
    else if (response.headersSent) throw error;
    else await sendError(message, response, toldError(error, reply.requestId, options), reply);
  } finally {
    authenticated();
    transfer?.end();
  }
}

async function perform(operation: Operation, call: S3Call): Promise<Answer> {
  if (operation.level === 'service') return operation.run(call);
  const { backend, by, request } = call;
  if (operation.level === 'object') requireKey(by, request.key!);
  const bucket = await openBucket(backend, by, request.bucket!, operation.access);
  if (operation.level === 'bucket') return operation.run({ ...call, bucket });
  return operation.run({ ...call, bucket, key: request.key! });
}

async function* bodyOf(
  message: IncomingMessage,
  response: ServerResponse,
  awaitsContinue: boolean,
  counted: { received: number },
): AsyncGenerator<Buffer> {
  if (awaitsContinue) response.writeContinue();
  // Leaving the loop early must not close the connection: the refusal has to be sent on it.
  for await (const data of message.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>) {
    counted.received += data.length;
    yield data;
  }
}

/** Tells `onEnd` of the request when its answer is through, or cut off. */
function countRequest({ onEnd }: S3ServiceOptions, { socket }: IncomingMessage, response: ServerResponse) {
  const counted = { operation: 'unknown', received: 0 };
  const start = performance.now();
  const sentBefore = socket.bytesWritten;
  response.once('close', () =>
    onEnd?.({
      ...counted,
      status: response.statusCode,
      seconds: (performance.now() - start) / 1000,
      sent: socket.bytesWritten - sentBefore,
    }),
  );
  return counted;
}

function destroyBody({ body }: Answer): void {
  if (typeof body === 'object') body.destroy();
}

/** What the client is told; what it cannot be told is logged. */
function toldError(error: unknown, requestId: string, { log, isUnavailable }: S3ServiceOptions): S3Error {
  if (error instanceof S3Error) return error;
  if (isUnavailable?.(error)) {
    log.warn({ err: error, requestId }, 'an S3 request has to be tried again');
    return new S3Error('ServiceUnavailable');
  }
  log.warn({ err: error, requestId }, 'an S3 request has failed');
  return new S3Error('InternalError');
}
