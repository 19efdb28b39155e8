import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import { createServer, type ListenOptions, type Server } from 'node:net';

/**
 * Node takes one new connection of a listening socket in each turn of its event loop (libuv since 1.45). When turns take
 * 50 ms, connections that come faster than 20 a second wait ever longer. So several sockets listen at each address.
 */
const SOCKETS = 16;

/** Takes no new connections from here on. Resolves when those that were taken have ended. */
export type StopAccepting = () => Promise<unknown>;

/**
 * Listens for `server`, whose connections come from all sockets. `listen` begins to listen with the first of them. Throws
 * as `listen` of Node does, also where another process listens that shares its port.
 */
export async function listenAt(
  server: Server,
  host: string,
  port: number,
  listen: (options: ListenOptions) => Promise<unknown> = (options) => listening(server, options),
): Promise<StopAccepting> {
  await requireFree(host, port);
  const options = { host, port, reusePort: true };
  await listen(options);
  // As Node's own servers of HTTP take connections, and no others.
  const allowHalfOpen = server instanceof HttpServer;
  const others = Array.from({ length: SOCKETS - 1 }, () =>
    createServer({ allowHalfOpen, noDelay: true }, (socket) => server.emit('connection', socket)),
  );
  await Promise.all(others.map((other) => listening(other, options)));
  return () => Promise.all(others.map(close));
}

/** Sockets that share their port find no other program on it. */
async function requireFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  await listening(probe, { host, port });
  await close(probe);
}

async function listening(server: Server, options: ListenOptions): Promise<void> {
  server.listen(options);
  await once(server, 'listening');
}

const close = (server: Server): Promise<unknown> => new Promise((resolve) => server.close(resolve));
