import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import type { RawAnswer } from './rawCall.ts';

/** Requests a WebSocket upgrade and returns the answer; only `101` where it succeeds. */
export async function requestWebSocket(
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<RawAnswer> {
  const asked = request(url + path, {
    // Not pooled: the platform closes the connection of a refused upgrade.
    agent: false,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.from('sixteen bytes...').toString('base64'),
      ...headers,
    },
  });
  asked.end();
  return new Promise((resolve, reject) => {
    asked.once('error', reject);
    asked.once('upgrade', (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, headers: {}, text: '' });
    });
    asked.once('response', async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const given = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
      resolve({
        status: response.statusCode!,
        headers: Object.fromEntries(given),
        text: Buffer.concat(chunks).toString(),
      });
    });
  });
}

/** A POST with raw header lines, also duplicated ones, which a regular client would not send. */
export async function postRaw(url: string, path: string, lines: string[], body: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...lines,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const [top = '', ...rest] = Buffer.concat(chunks).toString().split('\r\n\r\n');
  const [status = '', ...headers] = top.split('\r\n');
  return {
    status: Number(status.split(' ')[1]),
    headers: Object.fromEntries(headers.map((line) => [line.split(':')[0]!.toLowerCase(), line])),
    text: rest.join('\r\n\r\n'),
  };
}
