import type { IncomingMessage, Server } from 'node:http';

/** The whole of a request must arrive within this time. */
const REQUEST_MS = 30_000;

/**
 * Answers 408 to requests that are sent too slowly. Node's own `requestTimeout` holds for all requests of a server; those
 * that `isExempt` names when the time is over last as long as bytes flow, which their handlers see to.
 */
export function limitRequestTime(server: Server, isExempt: (request: IncomingMessage) => boolean): void {
  server.prependListener('request', (request: IncomingMessage) => {
    if (!hasBody(request)) return;
    const { socket } = request;
    const timer = setTimeout(() => {
      if (request.complete || socket.destroyed || isExempt(request)) return;
      // As Node does it: an answer may be under way, which this would garble.
      if (socket.bytesWritten === writtenBefore)
        socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n');
      socket.destroySoon();
    }, REQUEST_MS);
    const writtenBefore = socket.bytesWritten;
    request.once('close', () => clearTimeout(timer));
  });
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
