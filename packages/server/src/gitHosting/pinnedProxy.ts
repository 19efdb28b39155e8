import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface Pinned {
  /** As in a URL: `git.example`, `[2001::1]`. */
  hostname: string;
  port: number;
  /** Checked before: nothing else is connected to. */
  addresses: readonly string[];
}

/** Why the proxy ended a connection. */
export type Cut = 'unreachable' | 'idle' | 'too large';

export interface PinnedProxy {
  /** For `http.proxy`, with a password that only the holder knows. */
  url: string;
  receivedBytes(): number;
  /** Null: nothing was cut. */
  cut(): Cut | null;
  close(): Promise<void>;
}

const CONNECT_MS = 15_000;
const IDLE_MS = 60_000;

/**
 * A proxy on loopback through which one program reaches one host, whatever the name of it resolves to meanwhile. TLS
 * goes through it from end to end.
 */
export async function openPinnedProxy(
  { hostname, port, addresses }: Pinned,
  { maxBytes, onBytes }: { maxBytes: number; onBytes: () => void },
): Promise<PinnedProxy> {
  const password = randomBytes(24).toString('hex');
  const expected = `Basic ${Buffer.from(`import:${password}`).toString('base64')}`;
  const sockets = new Set<Duplex>();
  let received = 0;
  let cut: Cut | null = null;

  const server = createServer((_request, response) => response.writeHead(405, { connection: 'close' }).end());
  server.on('connect', (request, client) => {
    track(client);
    tunnel(request, client).catch(() => {
      cut ??= 'unreachable';
      client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function tunnel(request: IncomingMessage, client: Duplex): Promise<void> {
    if (request.headers['proxy-authorization'] !== expected)
      return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
    if (request.url?.toLowerCase() !== `${hostname}:${port}`) return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const upstream = await connectToFirst(addresses, port);
    track(upstream);
    upstream.setTimeout(IDLE_MS, () => end('idle'));
    upstream.on('data', (chunk: Buffer) => {
      received += chunk.length;
      onBytes();
      if (received > maxBytes) end('too large');
    });
    const end = (why: Cut): void => {
      cut ??= why;
      upstream.destroy();
      client.destroy();
    };
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    upstream.pipe(client).pipe(upstream);
  }

  function track(socket: Duplex): void {
    sockets.add(socket);
    // The other end hears of it through the pipe; git says what it means.
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  }

  return {
    url: `http://import:${password}@127.0.0.1:${(server.address() as AddressInfo).port}`,
    receivedBytes: () => received,
    cut: () => cut,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function connectToFirst(addresses: readonly string[], port: number): Promise<Socket> {
  let failure: unknown = new Error('no address');
  for (const host of addresses) {
    const socket = connect({ host, port });
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
      return socket;
    } catch (error) {
      socket.destroy();
      failure = error;
    }
  }
  throw failure;
}
