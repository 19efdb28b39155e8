/** Clients that attack a platform: low-level, so that they do what no honest one would. They come from one address. */
import { once } from 'node:events';
import { type Agent, request } from 'node:http';
import { connect } from 'node:net';
import ssh2 from 'ssh2';
import { WebSocket } from 'ws';

/** Another address of loopback than the one by which everybody else comes. */
export const ATTACKERS_ADDRESS = '127.0.0.2';
const ANSWER_WITHIN_MS = 60_000;
/** The line of a client: over loopback alone a few would move gigabytes in a second. */
const LINE_BYTES_PER_MS = 2_000;
const KEPT_CHARACTERS = 100_000;

/** A connection that a slow client holds. */
export interface Held {
  /** Resolves when it is closed by whomever. */
  closed: Promise<unknown>;
  /** Sends a byte. */
  drip(): void;
  end(): void;
}

export interface RawHold {
  port: number;
  first: Buffer | string;
  /** A byte as its protocol frames it; nothing: it is silent. */
  drop?: string;
  /** It reads what it gets. Otherwise the answer stalls. */
  reads?: boolean;
}

/** Resolves once the connection stands and its beginning is sent. */
export async function hold({ port, first, drop, reads = false }: RawHold): Promise<Held> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: ATTACKERS_ADDRESS });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  socket.on('error', () => {});
  if (reads) socket.resume();
  if (first.length > 0) socket.write(first);
  return {
    closed,
    drip: () => void (drop !== undefined && socket.writable && socket.write(drop)),
    end: () => socket.destroy(),
  };
}

export interface Asked {
  url: string;
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  agent: Agent;
  signal: AbortSignal;
}

export interface Answered {
  status: number;
  text: string;
}

/** One request, whose answer is read to its end, as fast as a line is. Of a long answer only the beginning is kept. */
export function ask({ url, path, method = 'GET', headers = {}, body, agent, signal }: Asked): Promise<Answered> {
  const { hostname, port, host } = new URL(url);
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        ...{ hostname, port, path, method, agent },
        headers: { host, ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
      },
      (answer) => {
        let text = '';
        let bytes = 0;
        const begun = performance.now();
        answer.on('data', (chunk: Buffer) => {
          if (text.length < KEPT_CHARACTERS) text += chunk.toString('latin1');
          bytes += chunk.length;
          const aheadMs = bytes / LINE_BYTES_PER_MS - (performance.now() - begun);
          if (aheadMs < 1) return;
          answer.pause();
          setTimeout(() => answer.resume(), aheadMs);
        });
        answer.once('error', reject);
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    asked.once('error', reject);
    asked.end(body);
  });
}

export interface Opened {
  outcome: 'opened' | number;
  socket: WebSocket;
}

/** Opens a WebSocket; the status says why it was not. */
export async function openSocket(url: string, path: string, signal: AbortSignal): Promise<Opened> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, {
    localAddress: ATTACKERS_ADDRESS,
    perMessageDeflate: false,
    handshakeTimeout: ANSWER_WITHIN_MS,
  });
  signal.addEventListener('abort', () => socket.terminate(), { once: true });
  socket.on('error', () => {});
  const outcome = await new Promise<Opened['outcome']>((resolve, reject) => {
    socket.once('open', () => resolve('opened'));
    socket.once('unexpected-response', (_request, answer) => {
      answer.destroy();
      resolve(answer.statusCode ?? 0);
    });
    socket.once('error', reject);
  });
  return { outcome, socket };
}

/** A login by SSH with this key, as `git`. */
export async function logInBySsh(port: number, privateKey: string, signal: AbortSignal): Promise<ssh2.Client> {
  const client = new ssh2.Client();
  const end = (): void => void client.destroy();
  signal.addEventListener('abort', end, { once: true });
  client.once('close', () => signal.removeEventListener('abort', end));
  const ready = new Promise<void>((resolve, reject) => {
    client.once('ready', resolve);
    client.once('close', () => reject(new Error('closed before the login')));
    client.on('error', reject);
  });
  client.connect({
    ...{ host: '127.0.0.1', port, username: 'git', privateKey },
    localAddress: ATTACKERS_ADDRESS,
    readyTimeout: ANSWER_WITHIN_MS,
  });
  await ready;
  return client;
}

/** Begins a command, which waits for input that does not come and whose output is not read. */
export async function holdBySsh(port: number, privateKey: string, command: string, signal: AbortSignal): Promise<Held> {
  const client = await logInBySsh(port, privateKey, signal);
  const closed = once(client, 'close');
  const channel = await begin(client, command);
  return { closed, drip: () => void channel.write('w'), end: () => void client.destroy() };
}

export const begin = (client: ssh2.Client, command: string): Promise<ssh2.ClientChannel> =>
  new Promise((resolve, reject) => {
    client.once('close', () => reject(new Error('closed before the command')));
    client.exec(command, (error, channel) => {
      if (error) return reject(error);
      channel.on('error', () => {});
      resolve(channel);
    });
  });

/** A request's head as bytes. */
export function head(method: string, path: string, headers: readonly (readonly [string, string | number])[]): string {
  return `${method} ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

/** RFC 6455, 4.1. */
export const upgrade = (host: string, path: string): string =>
  head('GET', path, [
    ['host', host],
    ['connection', 'upgrade'],
    ['upgrade', 'websocket'],
    ['sec-websocket-version', 13],
    ['sec-websocket-key', 'c3RhZ2ktbmVpZ2hib3Vycw=='],
  ]);
