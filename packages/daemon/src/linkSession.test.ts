import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { DaemonMessage } from '@stagi/contract/daemon.ts';
import { afterEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { openLinkSession } from './linkSession.ts';

let server: WebSocketServer | null = null;
afterEach(() => {
  for (const client of server?.clients ?? []) client.terminate();
  server?.close();
});

it('sends what may be lost only while nothing waits for the network', async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  const connected = once(server, 'connection') as Promise<[WebSocket]>;
  await once(server, 'listening');
  const address = server.address();
  const socket = new WebSocket(`ws://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`);
  const [platform] = await connected;
  if (socket.readyState !== WebSocket.OPEN) await once(socket, 'open');
  const heard: string[] = [];
  platform.on('message', (data) => heard.push(String(data)));
  const { session, end } = openLinkSession(socket);
  const beat = (at: string): DaemonMessage => ({ type: 'heartbeat', at });
  const arrived = (at: string) => expect.poll(() => heard.some((one) => one.includes(`"${at}"`))).toBe(true);

  session.sendIfIdle(beat('idle'));
  await arrived('idle');

  // A platform that does not read: the buffers of the network fill up.
  const wire = (platform as unknown as { _socket: Socket })._socket;
  wire.pause();
  while (socket.bufferedAmount <= 64 * 1024) {
    session.send(beat('x'.repeat(512 * 1024)));
    await new Promise(setImmediate);
  }
  session.sendIfIdle(beat('congested'));
  session.send(beat('last'));
  wire.resume();
  await arrived('last');
  expect(heard.some((one) => one.includes('congested'))).toBe(false);

  await expect.poll(() => socket.bufferedAmount).toBe(0);
  session.sendIfIdle(beat('idle again'));
  await arrived('idle again');
  end();
  socket.terminate();
});
