import { randomUUID } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { WebSocket } from 'ws';
import type { TestApp } from '../../testing/app.ts';

/** A try to open a stream. */
export interface Opening {
  /** 101: it is open. */
  status: number;
  socket: WebSocket;
  /** Its close code, once it is closed. */
  code(): number | null;
  /** Text messages so far. */
  received: string[];
  /** Waits until it is closed. */
  leave(): Promise<void>;
}

type Headers = Readonly<Record<string, string | number>>;

/** A one-use ticket for whoever these headers name. */
export async function ticketFor(app: TestApp, headers: Headers): Promise<string> {
  const reply = await app.post(api.auth.streamTicket.path, {}, headers as Record<string, string>);
  if (reply.status !== 200) throw new Error(`no ticket: ${reply.status}`);
  return (reply.body as { ticket: string }).ticket;
}

/** `path`: of the stream, with its query. */
export const streamUrl = (app: TestApp, path: string, ticket: string): string =>
  `${app.url.replace('http', 'ws')}${API_PREFIX}${path}${path.includes('?') ? '&' : '?'}ticket=${ticket}`;

export const terminalPath = (containerId: number): string =>
  `docker-container/${containerId}/terminal?session=${randomUUID()}&cols=80&rows=24`;
export const tailPath = (containerId: number): string => `logging/tail?type=docker-container&id=${containerId}`;

/** Opens a stream as a browser does, or is refused. */
export function openStream(app: TestApp, path: string, ticket: string): Promise<Opening> {
  const socket = new WebSocket(streamUrl(app, path, ticket), { origin: app.url });
  const received: string[] = [];
  let code: number | null = null;
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (!isBinary) received.push(data.toString());
  });
  const closed = new Promise<void>((resolve) =>
    socket.once('close', (given) => {
      code = given;
      resolve();
    }),
  );
  return new Promise((resolve) => {
    const found = (status: number): void =>
      resolve({
        status,
        socket,
        code: () => code,
        received,
        async leave() {
          socket.close();
          await closed;
        },
      });
    socket.once('open', () => found(101));
    socket.once('unexpected-response', (_, response) => {
      response.destroy();
      found(response.statusCode ?? 0);
    });
    socket.on('error', () => found(0));
  });
}
