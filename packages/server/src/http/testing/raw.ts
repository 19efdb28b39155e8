import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import type { Answer } from './ask.ts';

/** What asking for a WebSocket is answered where none is given; `101` and nothing more where one is. */
export async function askForSocket(url: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const asked = request(url + path, {
    // A connection of its own: the platform ends one that asked in vain.
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

/** A POST with its header lines as they are, doubled ones too, which no client of ours would send. */
export async function postLines(url: string, path: string, lines: string[], body: string): Promise<Answer> {
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
