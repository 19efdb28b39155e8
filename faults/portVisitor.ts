import { once } from 'node:events';
import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { TestApp } from '@stagi/server/src/testing/app.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  trailers: NodeJS.Dict<string>;
}

export interface Visit {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
}

const addressOf = ({ url }: Pick<TestApp, 'url'>) => ({ host: '127.0.0.1', port: Number(new URL(url).port) });

/** One request with this `Host`. */
export async function visitPort(
  app: Pick<TestApp, 'url'>,
  host: string,
  { method = 'GET', path = '/', headers = {}, body }: Visit = {},
  more: RequestOptions = {},
): Promise<Answer> {
  const asked = request({ ...addressOf(app), method, path, headers: { host, ...headers }, agent: false, ...more });
  const answered = once(asked, 'response');
  // After an answer that breaks off.
  asked.on('error', () => {});
  asked.end(body);
  const [answer] = (await answered) as [import('node:http').IncomingMessage];
  let text = '';
  for await (const part of answer) text += part;
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: text, trailers: answer.trailers };
}

/** Everything that comes back for these bytes until the connection ends. */
export async function sendBytes(app: TestApp, bytes: string): Promise<string> {
  const socket = connect(addressOf(app));
  socket.write(bytes);
  let text = '';
  socket.on('error', () => {});
  for await (const part of socket) text += part;
  return text;
}

/** A WebSocket's handshake; the socket when it was accepted, and what is answered. */
export async function upgrade(
  app: TestApp,
  host: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; socket: Socket | null }> {
  const asked = request({
    ...addressOf(app),
    path: '/socket',
    agent: false,
    headers: {
      host,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    },
  });
  asked.end();
  return new Promise((resolve, reject) => {
    asked.once('upgrade', (answer, socket) =>
      resolve({ status: 101, headers: answer.headers, socket: socket as Socket }),
    );
    asked.once('response', (answer) => {
      answer.resume();
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, socket: null });
    });
    asked.once('error', reject);
  });
}
