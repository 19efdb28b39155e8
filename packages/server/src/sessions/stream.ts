import { API_PREFIX } from '@stagi/contract/call.ts';
import { STREAM_CLOSE, STREAM_PING_MS } from '@stagi/contract/streams.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { isLoopback } from '../config/loopback.ts';
import type { Context } from '../context.ts';
import { badInput, forbidden, PublicError, restarting, unauthenticated } from '../http/errors.ts';
import { createHostReader } from '../http/hostOf.ts';
import { userAgentOf } from '../http/userAgent.ts';
import { asPerson } from '../slots/holder.ts';
import { recheckStreamOwner } from './recheckStreamOwner.ts';
import { consumeStreamTicket, currentOwner, type StreamOwner } from './streamTicket.ts';

const SILENCE_TIMEOUT_MS = 40_000;
/** A reader that does not answer the close handshake is cut off after this time. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Why a stream ended; `gone`: its reader went away. */
export type StreamEnd = keyof typeof STREAM_CLOSE | 'gone';

/** An open WebSocket of a browser. */
export interface Stream<Message> {
  owner: StreamOwner;
  client: { ip: string; userAgent: string | null };
  /** Does nothing once the stream is closed. */
  send(message: Message): void;
  sendBytes(bytes: Uint8Array): void;
  /** Stops reading what its reader sends, or goes on. */
  pause(): void;
  resume(): void;
  /** Bytes that the reader has not read yet. */
  bufferedBytes(): number;
  close(reason: keyof typeof STREAM_CLOSE): void;
}

/** What serves an open stream. */
export interface Served {
  stop(end: StreamEnd): void;
  /** Text, or bytes. What it throws closes the stream as a bad message. Without this nothing is read. */
  receive?(message: string | Uint8Array): void;
}

interface StreamKind<Query, Admitted, Message> {
  /** The query parameters beside the ticket, and those of the path. */
  query: z.ZodType<Query>;
  /** Throws when the owner may not have the stream: before the upgrade, and whenever the owner is checked again. */
  authorize(owner: StreamOwner, query: Query): Promise<Admitted>;
  /** Serves an open stream, in the tick in which it opens. `admitted` is what `authorize` last answered. */
  serve(stream: Stream<Message>, admitted: () => Admitted): Served;
  /**
   * Backpressure: a reader that is this far behind is cut off. It reconnects and reads again what it missed. Without a
   * limit `serve` itself waits for slow readers.
   */
  bufferMaxBytes?: number;
}

interface Opening<Admitted> {
  owner: StreamOwner;
  client: Stream<unknown>['client'];
  admitted: Admitted;
  recheck(owner: StreamOwner): Promise<Admitted>;
}

/**
 * Serves a kind of stream at `WS /frontend-api/{path}`. It opens with a one-use ticket, pings, and closes when its
 * owner signs out or loses access, and when the server stops.
 */
export function mountStream<Query, Admitted, Message>(
  app: FastifyInstance,
  ctx: Context,
  path: string,
  kind: StreamKind<Query, Admitted, Message>,
): void {
  const openings = new WeakMap<FastifyRequest, Opening<Admitted>>();
  const open = new Set<Stream<Message>>();
  let isStopping = false;

  const preValidation = async (request: FastifyRequest): Promise<void> => {
    openings.set(request, await authorize(request));
  };
  app.get(API_PREFIX + path, { websocket: true, preValidation }, (socket, request) => {
    const stream = serveStream(ctx, socket, openings.get(request)!, kind);
    open.add(stream);
    socket.on('close', () => open.delete(stream));
    // The shutdown began while it was admitted: nobody else would close it.
    if (isStopping) stream.close('restarting');
  });
  app.addHook('preClose', async () => {
    isStopping = true;
    for (const stream of open) stream.close('restarting');
  });

  const isOwnOrigin = ownOriginCheck(ctx);

  /** Before the upgrade: first the origin, then the ticket, which it consumes, then the access. */
  async function authorize(request: FastifyRequest): Promise<Opening<Admitted>> {
    if (!isOwnOrigin(request)) throw forbidden();
    if (isStopping) throw restarting();
    const { ticket } = parse(Ticket, request.query);
    const query = parse(kind.query, { ...(request.query as object), ...(request.params as object) });
    const owner = await consumeStreamTicket(ctx, ticket);
    if (!owner) throw unauthenticated();
    const recheck = (now: StreamOwner): Promise<Admitted> => kind.authorize(now, query);
    const admitted = await recheck(owner);
    const release = ctx.slots.streams.enter(asPerson(owner.user.id, owner.workspace.id));
    const { socket } = request.raw;
    if (socket.destroyed) release();
    else socket.once('close', release);
    const client = { ip: request.ip, userAgent: userAgentOf(request.headers) };
    return { owner, client, admitted, recheck };
  }
}

const Ticket = z.object({ ticket: z.string().max(200) });

function parse<Asked>(schema: z.ZodType<Asked>, query: unknown): Asked {
  const parsed = schema.safeParse(query);
  if (!parsed.success) throw badInput(parsed.error);
  return parsed.data;
}

/** Against cross-site WebSocket hijacking. Browsers always send an origin; other clients have no cookie to misuse. */
function ownOriginCheck({ config }: Context): (request: FastifyRequest) => boolean {
  const { appOrigin, originIsLoopback, allowedHosts } = config;
  const hostOf = createHostReader(config);
  return ({ headers: { origin }, raw }) => {
    if (origin === undefined || origin === appOrigin) return true;
    if (!URL.canParse(origin)) return false;
    const { host, hostname } = new URL(origin);
    return host === hostOf(raw) && (allowedHosts.includes(hostname) || (originIsLoopback && isLoopback(hostname)));
  };
}

function serveStream<Query, Admitted, Message>(
  ctx: Context,
  socket: WebSocket,
  { owner, client, admitted: first, recheck }: Opening<Admitted>,
  { serve, bufferMaxBytes = Number.POSITIVE_INFINITY }: StreamKind<Query, Admitted, Message>,
): Stream<Message> {
  let admitted = first;
  let heardAt = Date.now();
  let isOver = false;
  let isPaused = false;
  const stream: Stream<Message | { type: 'ping' }> = {
    owner,
    client,
    send: (message) => sendData(JSON.stringify(message)),
    sendBytes: (bytes) => sendData(bytes),
    pause() {
      isPaused = true;
      socket.pause();
    },
    resume() {
      isPaused = false;
      heardAt = Date.now();
      socket.resume();
    },
    bufferedBytes: () => socket.bufferedAmount,
    close(reason) {
      stop(reason);
      socket.close(STREAM_CLOSE[reason]);
      const timer = setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS);
      socket.once('close', () => clearTimeout(timer));
    },
  };
  const served = serve(stream, () => admitted);
  const unwatch = recheckStreamOwner(ctx, owner, checkOwner);
  const ping = setInterval(() => {
    // What is paused hears no answer.
    if (!isPaused && Date.now() - heardAt > SILENCE_TIMEOUT_MS) return socket.terminate();
    // Browsers hide the ping of the protocol from their pages.
    stream.send({ type: 'ping' });
    socket.ping();
  }, STREAM_PING_MS);
  socket.on('pong', () => {
    heardAt = Date.now();
  });
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isOver || !served.receive) return;
    try {
      served.receive(isBinary ? data : data.toString());
    } catch (error) {
      ctx.log.debug({ err: error }, 'a stream was closed: bad message');
      stream.close('badMessage');
    }
  });
  socket.on('close', () => stop('gone'));
  return stream;

  function sendData(data: string | Uint8Array): void {
    if (isOver) return;
    if (socket.bufferedAmount > bufferMaxBytes) socket.terminate();
    else socket.send(data);
  }

  function stop(end: StreamEnd): void {
    if (isOver) return;
    isOver = true;
    served.stop(end);
    unwatch();
    clearInterval(ping);
  }

  async function checkOwner(): Promise<void> {
    const now = await currentOwner(ctx, owner);
    if (isOver) return;
    if (typeof now === 'string') return stream.close(now);
    try {
      admitted = await recheck(now);
    } catch (error) {
      if (!(error instanceof PublicError)) throw error;
      if (!isOver) stream.close('noAccess');
    }
  }
}
