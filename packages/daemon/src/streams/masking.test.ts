import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { maskingFor } from './masking.ts';

it('masks what others on the way could read, and nothing else', () => {
  for (const origin of ['https://platform.example', 'http://127.0.0.1:4400', 'http://localhost:4400', 'http://[::1]:1'])
    expect.soft(maskingFor(origin), origin).toHaveProperty('generateMask');
  for (const origin of [
    'http://platform.example',
    'http://10.0.0.1',
    'http://127.0.0.1.example',
    'http://localhost.evil',
  ])
    expect.soft(maskingFor(origin), origin).toEqual({});
});

it('sends the bytes as they are where it does not mask, and the other side takes them', async () => {
  const server = createServer();
  let wire = '';
  server.on('connection', (socket) => {
    socket.on('data', (data) => {
      wire += data.toString('latin1');
    });
  });
  const sockets = new WebSocketServer({ server });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [masking, isReadable] of [
    [maskingFor(origin), true],
    [maskingFor('http://platform.example'), false],
  ] as const) {
    wire = '';
    const connected = once(sockets, 'connection') as Promise<[WebSocket]>;
    const socket = new WebSocket(origin.replace('http', 'ws'), masking);
    const [taken] = await connected;
    const received = once(taken, 'message');
    await once(socket, 'open');
    socket.send('GET /planted HTTP/1.1');
    expect(String((await received)[0])).toBe('GET /planted HTTP/1.1');
    expect(wire.includes('GET /planted HTTP/1.1')).toBe(isReadable);
    socket.terminate();
  }
  sockets.close();
  server.close();
});
