import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { API_PREFIX } from '@stagi/contract/call.ts';
import type { Platform } from './platform.ts';

/** `hang up`: the connection ends before the answer is whole. A browser sends again by itself where none had begun. */
export type Scripted = { status: number; body: object | string; retryAfter?: number } | 'hang up';

export interface Replies {
  url: string;
  /** Paths of the calls that came by, oldest first. */
  seen: string[];
  count(path: string): number;
  /** Answers the next call of this path so, in place of the server. */
  next(path: string, scripted: Scripted): void;
  /** Answers every call of this path so, until told `null`. */
  always(path: string, scripted: Scripted | null): void;
  /** Ends the open web sockets, as a change of network does. */
  cut(): void;
  stop(): void;
}

/** Stands before a platform and answers single calls as a server or a proxy on a bad day would. */
export async function startScriptedProxy(platform: Platform): Promise<Replies> {
  const seen: string[] = [];
  const once = new Map<string, Scripted>();
  const ever = new Map<string, Scripted>();
  const server: Server = createServer((incoming, outgoing) => {
    const path = (incoming.url ?? '').startsWith(API_PREFIX) ? (incoming.url ?? '').slice(API_PREFIX.length) : null;
    const scripted = path === null ? undefined : (once.get(path) ?? ever.get(path));
    if (path !== null) {
      seen.push(path);
      once.delete(path);
    }
    if (scripted === undefined) pass(platform, incoming, outgoing);
    else answer(scripted, incoming, outgoing);
  });
  const sockets = new Set<Socket>();
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket) => {
    seen.push((incoming.url ?? '').slice(API_PREFIX.length).replace(/\?.*/, ''));
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    passSocket(platform, incoming, socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    seen,
    count: (path) => seen.filter((call) => call === path).length,
    next: (path, scripted) => void once.set(path, scripted),
    always: (path, scripted) => void (scripted === null ? ever.delete(path) : ever.set(path, scripted)),
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

function pass(platform: Platform, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { url, method, headers } = incoming;
  const onward = request(
    {
      host: '127.0.0.1',
      port: platform.port,
      path: url,
      method,
      headers: { ...headers, host: new URL(platform.url).host },
    },
    (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    },
  );
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  incoming.pipe(onward);
}

function passSocket(platform: Platform, { url, headers }: IncomingMessage, socket: Socket): void {
  const onward = connect(platform.port, '127.0.0.1');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  onward.write(`GET ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  onward.pipe(socket).pipe(onward);
  for (const [end, other] of [[onward, socket] as const, [socket, onward] as const]) {
    end.on('error', () => other.destroy());
    end.on('close', () => other.destroy());
  }
}

function answer(scripted: Scripted, incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume();
  if (scripted === 'hang up') {
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    outgoing.write('{', () => outgoing.destroy());
    return;
  }
  const isText = typeof scripted.body === 'string';
  outgoing.writeHead(scripted.status, {
    'content-type': isText ? 'text/html' : 'application/json',
    ...(scripted.retryAfter === undefined ? {} : { 'retry-after': String(scripted.retryAfter) }),
  });
  outgoing.end(isText ? scripted.body : JSON.stringify(scripted.body));
}
