import type { IncomingMessage, ServerResponse } from 'node:http';
import { portPage, RefusedPort, refusedPort } from './pages.ts';

const SCAN_MS = 1_000;

/** One request, or WebSocket, that is passed on. */
export interface Exchange {
  /** Ends it now, with an answer in place of the container's where none has begun. */
  cut(error: RefusedPort): void;
  /** How long no byte may move at this point. */
  idleMs: number;
}

/** Cuts exchanges in which no byte moves. One timer for all: a timer for each chunk would cost more than the chunk. */
export interface IdleWatch {
  watch(exchange: Exchange, socket: IncomingMessage['socket']): () => void;
  stop(): void;
}

export function createIdleWatch(): IdleWatch {
  const watched = new Map<Exchange, { socket: IncomingMessage['socket']; bytes: number; movedAt: number }>();
  const interval = setInterval(() => {
    const now = performance.now();
    for (const [exchange, state] of watched) {
      const bytes = bytesOf(state.socket);
      if (bytes !== state.bytes) {
        state.bytes = bytes;
        state.movedAt = now;
      } else if (now - state.movedAt > exchange.idleMs) {
        watched.delete(exchange);
        exchange.cut(new RefusedPort('slow'));
      }
    }
  }, SCAN_MS);
  return {
    watch(exchange, socket) {
      watched.set(exchange, { socket, bytes: bytesOf(socket), movedAt: performance.now() });
      return () => watched.delete(exchange);
    },
    stop: () => clearInterval(interval),
  };
}

const bytesOf = ({ bytesRead, bytesWritten }: IncomingMessage['socket']): number => bytesRead + bytesWritten;

/** Answers with a page of the platform; an answer that has begun is broken off, so that nobody takes it for whole. */
export function endWithPage(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  // A page of the platform is on its way already.
  if (response.writableEnded) return;
  if (response.headersSent || response.destroyed) {
    // Not `destroy`: the system would still deliver what it holds in the buffer of the socket.
    if (response.socket && !response.socket.destroyed) response.socket.resetAndDestroy();
    return;
  }
  const { status, headers, body } = portPage(refusedPort(error), request);
  response.writeHead(status, { ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}
