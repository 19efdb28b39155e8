import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { bytesOnly } from '@stagi/contract/bytesOnly.ts';
import { MAX_FRAME_BYTES } from '@stagi/contract/daemon.ts';
import {
  CONNECTION_WINDOW_BYTES,
  OPENING_HEADER,
  REASON_HEADER,
  STREAM_WINDOW_BYTES,
  STREAMS_PATH,
  type StreamTarget,
} from '@stagi/contract/daemonStreams.ts';
import { socketPair } from '@stagi/contract/socketPair.ts';
import { createWebSocketStream, WebSocket } from 'ws';
import { verifyOpening } from '../desiredState.ts';
import type { Identity } from '../identity.ts';
import { errorText, log } from '../log.ts';
import { VERSION } from '../version.ts';

const HANDSHAKE_TIMEOUT_MS = 15_000;
/** Longer than an opening is accepted. */
const OPENINGS_KEPT_MS = 5 * 60_000;
/** Open at a time. */
const MAX_STREAMS = 500;

/** A stream is refused: the status and reason that the platform gets. */
export class RefusedStream extends Error {
  readonly status: number;
  constructor(status: number, reason: string) {
    super(reason);
    this.status = status;
  }
}

/** Serves one kind of streams. Throws RefusedStream before `accept` was called; after it the stream is theirs. */
export type StreamHandler<K extends StreamTarget['kind']> = (
  target: Extract<StreamTarget, { kind: K }>,
  accept: () => Duplex,
) => Promise<void>;
export type StreamHandlers = { [K in StreamTarget['kind']]: StreamHandler<K> };

export interface StreamServer {
  /** Dials the platform with this ticket. The socket, and all streams on it, end with the signal. */
  dial(ticket: string, epoch: number, link: AbortSignal): void;
}

export function createStreamServer(identity: Identity, handlers: StreamHandlers): StreamServer {
  /** The ids of used openings, with the time after which they cannot come again. */
  const used = new Map<string, number>();

  /** The target of a request, if its opening is signed for this node and link and was not used yet. */
  async function openingOf(document: unknown, epoch: number): Promise<StreamTarget> {
    let opening: Awaited<ReturnType<typeof verifyOpening>>;
    try {
      opening = await verifyOpening(String(document), identity);
    } catch (error) {
      throw new RefusedStream(403, `the opening is not valid: ${errorText(error)}`);
    }
    if (opening.epoch !== epoch) throw new RefusedStream(403, 'the opening is for another link');
    const now = Date.now();
    for (const [id, until] of used) if (until < now) used.delete(id);
    if (used.has(opening.id)) throw new RefusedStream(403, 'the opening was used already');
    used.set(opening.id, now + OPENINGS_KEPT_MS);
    return opening.open;
  }

  async function serve(stream: ServerHttp2Stream, document: unknown, epoch: number): Promise<void> {
    const target = await openingOf(document, epoch);
    const handler = handlers[target.kind] as StreamHandler<typeof target.kind>;
    await handler(target as never, () => {
      stream.respond({ ':status': 200 });
      return bytesOnly(stream);
    });
  }

  return {
    dial(ticket, epoch, link) {
      if (link.aborted) return;
      const socket = new WebSocket(`${identity.origin.replace(/^http/, 'ws')}${STREAMS_PATH}`, {
        maxPayload: MAX_FRAME_BYTES,
        perMessageDeflate: false,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        headers: { 'user-agent': `stagid/${VERSION}`, authorization: `Bearer ${ticket}` },
      });
      const end = (): void => socket.terminate();
      link.addEventListener('abort', end, { once: true });
      socket.on('close', () => link.removeEventListener('abort', end));
      // Before the socket is open: the first bytes would be lost.
      const wire = createWebSocketStream(socket);
      wire.on('error', (error) => {
        if (!link.aborted) log(`streams: ${errorText(error)}`);
      });
      const server = createServer({
        settings: { initialWindowSize: STREAM_WINDOW_BYTES, maxConcurrentStreams: MAX_STREAMS },
      });
      server.on('session', (session) => {
        session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
        session.on('error', end);
        session.on('close', end);
      });
      server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
        // A reset by the platform is no news.
        stream.on('error', () => {});
        serve(stream, headers[OPENING_HEADER], epoch).catch((error: unknown) => refuse(stream, error));
      });
      socketPair()
        .then(([near, far]) => {
          server.emit('connection', near);
          return pipeline(wire, far, wire).finally(() => near.destroy());
        })
        .catch(end);
    },
  };
}

function refuse(stream: ServerHttp2Stream, error: unknown): void {
  // An open stream that breaks off is no news.
  if (stream.headersSent || stream.destroyed) return void stream.destroy();
  const isRefusal = error instanceof RefusedStream;
  if (!isRefusal) log(`a stream failed: ${errorText(error)}`);
  const reason = encodeURIComponent(isRefusal ? error.message : errorText(error)).slice(0, 2000);
  stream.respond({ ':status': isRefusal ? error.status : 503, [REASON_HEADER]: reason }, { endStream: true });
}
