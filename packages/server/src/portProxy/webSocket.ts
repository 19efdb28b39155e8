import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { brokenOff, type Passing } from './forward.ts';
import { pairs, requestHeaders, responseHeaders } from './headers.ts';
import { RefusedPort } from './pages.ts';
import type { PortAgentOptions } from './portAgent.ts';

/**
 * Passes a WebSocket on: its handshake as a request, and after the 101 the bytes as they are. Resolves when both sides
 * have ended. `head` is what the visitor has sent already.
 */
export async function forwardWebSocket(passing: Passing, head: Buffer): Promise<void> {
  const { request, response, ended } = passing;
  const answered = await handshake(passing);
  const { answer, stream, first } = answered;
  if (!stream) return sendRefusal(answer, response);
  const { socket } = request;
  // Also after both directions have ended.
  stream.on('error', () => {});
  response.detachSocket(socket);
  const end = (): void => {
    stream.destroy();
    socket.destroy();
  };
  ended.addEventListener('abort', end, { once: true });
  if (ended.aborted) end();
  socket.setTimeout(0);
  socket.setNoDelay(true);
  socket.write(headOf(answer));
  if (first.length > 0) socket.write(first);
  if (head.length > 0) stream.write(head);
  try {
    await Promise.all([pipeline(socket, stream), pipeline(stream, socket)]);
  } catch {
    // Either side may break off at any time.
  } finally {
    ended.removeEventListener('abort', end);
    end();
  }
}

/** Without a stream the container answered something else than 101. */
interface Handshake {
  answer: IncomingMessage;
  stream: Duplex | null;
  first: Buffer;
}

function handshake(passing: Passing): Promise<Handshake> {
  const { request, target, agents, ended } = passing;
  const options: PortAgentOptions = {
    method: 'GET',
    path: request.url,
    headers: requestHeaders(request.rawHeaders, {
      ...passing,
      isWebSocket: true,
    }) as unknown as PortAgentOptions['headers'],
    target,
  };
  const onward = httpRequest({
    ...options,
    createConnection: (_, callback) => agents.single.createConnection(options, callback),
  } as PortAgentOptions);
  const leave = (): void => void onward.destroy();
  ended.addEventListener('abort', leave, { once: true });
  if (ended.aborted) leave();
  return new Promise<Handshake>((resolve, reject) => {
    onward.once('upgrade', (answer, stream, first) => {
      passing.onAnswer();
      resolve({ answer, stream, first });
    });
    onward.once('response', (answer) => {
      passing.onAnswer();
      resolve({ answer, stream: null, first: Buffer.alloc(0) });
    });
    onward.on('error', (error) => reject(brokenOff(error)));
    onward.once('close', () => reject(new RefusedPort('broken')));
    onward.end();
  }).finally(() => ended.removeEventListener('abort', leave));
}

/** The container answers the handshake with something else: the visitor gets it, and the connection ends. */
async function sendRefusal(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(answer.statusCode ?? 502, [...responseHeaders(answer.rawHeaders), 'Connection', 'close']);
  await pipeline(answer, response);
}

function headOf({ rawHeaders }: IncomingMessage): string {
  const headers = pairs([...responseHeaders(rawHeaders), 'Connection', 'Upgrade', 'Upgrade', 'websocket']);
  return `HTTP/1.1 101 Switching Protocols\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}
