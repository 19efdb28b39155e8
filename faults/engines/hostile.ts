import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { portOf } from '../portLab.ts';

/** What an engine does once it has read the head of a request. It may throw when its socket is gone. */
export type Behaviour = (socket: Socket) => Promise<void> | void;

export interface HostileEngine {
  port: number;
  /** What it does with the next requests. */
  behave(behaviour: Behaviour): void;
  /** Connections that are open. */
  open(): number;
  requests(): number;
  close(): void;
}

/** A server of raw bytes. */
export async function startHostileEngine(): Promise<HostileEngine> {
  let behaviour: Behaviour = (socket) => void socket.destroy();
  let requests = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Whoever reads may go away at any time.
    socket.on('error', () => socket.destroy());
    socket.once('end', () => {
      if (!socket.writableEnded) socket.end();
    });
    const now = behaviour;
    let head = '';
    const read = (part: Buffer): void => {
      head += part.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      socket.off('data', read);
      socket.resume();
      requests += 1;
      void Promise.resolve(now(socket)).catch(() => socket.destroy());
    };
    socket.on('data', read);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server),
    behave(next) {
      behaviour = next;
    },
    open: () => sockets.size,
    requests: () => requests,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Writes with backpressure. Throws when the socket is gone. */
export async function write(socket: Socket, bytes: string | Buffer): Promise<void> {
  if (socket.destroyed) throw new Error('gone');
  if (socket.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      socket.off('drain', go).off('close', go);
      resolve();
    };
    socket.once('drain', go).once('close', go);
  });
}

/** The same bytes until they are enough, or for ever. */
export async function flood(socket: Socket, piece: string | Buffer, most = Number.POSITIVE_INFINITY): Promise<void> {
  const unit = Buffer.from(piece);
  const block = Buffer.concat(Array.from({ length: Math.max(1, Math.floor(65_536 / unit.length)) }, () => unit));
  for (let sent = 0; sent < most; sent += block.length) await write(socket, block);
}

export const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n';
/** Ends with the connection. */
export const STREAM = `${OK}Connection: close\r\n\r\n`;
export const DONE = 'data: [DONE]\n\n';

export const sse = (event: unknown): string => `data: ${JSON.stringify(event)}\n\n`;
export const says = (content: unknown, more: object = {}): string =>
  sse({ choices: [{ delta: { content } }], ...more });

/** Sends this and closes. */
export const sends =
  (...parts: (string | Buffer)[]): Behaviour =>
  async (socket) => {
    for (const part of parts) await write(socket, part);
    socket.end();
  };

/** Sends this, then the same for ever. */
export const floods =
  (head: string, piece: string | Buffer): Behaviour =>
  async (socket) => {
    await write(socket, head);
    await flood(socket, piece);
  };

/** Sends this and leaves the connection open. */
export const keepsOpen =
  (...parts: (string | Buffer)[]): Behaviour =>
  async (socket) => {
    for (const part of parts) await write(socket, part);
  };

/** One byte after another, for ever. */
export const drips =
  (head: string, piece: string, everyMs: number): Behaviour =>
  async (socket) => {
    await write(socket, head);
    for (let at = 0; !socket.destroyed; at += 1) {
      await pause(everyMs);
      await write(socket, piece[at % piece.length]!);
    }
  };
