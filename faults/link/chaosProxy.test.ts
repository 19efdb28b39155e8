import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { newSeed } from '../random.ts';
import { type ChaosProxy, startChaosProxy } from './chaosProxy.ts';
import { randomFrom } from './random.ts';
import { until } from './testbed.ts';

const SEED = newSeed();
let proxy: ChaosProxy;
let far: WebSocketServer;
let heard: Buffer[];

beforeEach(async () => {
  heard = [];
  far = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(far, 'listening');
  far.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      heard.push(data);
      socket.send(`{"type":"desired","document":"${data.length}"}`);
    });
  });
  proxy = await startChaosProxy(() => (far.address() as AddressInfo).port, randomFrom(SEED));
});
afterEach(async () => {
  await proxy.close();
  for (const socket of far.clients) socket.terminate();
  far.close();
});

async function open() {
  const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}`);
  const answers: string[] = [];
  const closed = once(socket, 'close');
  socket.on('message', (data) => answers.push(String(data)));
  socket.on('error', () => {});
  await once(socket, 'open');
  return { socket, answers, closed };
}

describe(`the chaos proxy (seed ${SEED})`, () => {
  it('changes no byte, however it splits and delays', async () => {
    proxy.set({ splitBytes: 7, latencyMs: 5, jitterMs: 20 });
    const { socket } = await open();
    const sent = Array.from({ length: 20 }, (_, index) => Buffer.alloc(200 + index, index));
    for (const message of sent) socket.send(message);
    await until('all came', () => heard.length === sent.length);
    expect(Buffer.concat(heard)).toEqual(Buffer.concat(sent));
  });

  it('limits the bandwidth', async () => {
    const { socket } = await open();
    proxy.set({ bytesPerSecond: 20_000 });
    const begun = performance.now();
    socket.send(Buffer.alloc(10_000));
    await until('it came', () => heard.length === 1);
    expect(performance.now() - begun).toBeGreaterThan(350);
  });

  it('holds bytes back in a black hole and delivers them afterwards', async () => {
    const { socket, answers } = await open();
    proxy.set({ blackhole: true });
    socket.send('x');
    // Enough time for everything that is not held: a round trip on another connection.
    const other = connect((far.address() as AddressInfo).port, '127.0.0.1');
    await once(other, 'connect');
    other.destroy();
    expect(heard).toEqual([]);
    expect(answers).toEqual([]);
    proxy.set({ blackhole: false });
    await until('it came', () => answers.length === 1);
  });

  it('resets connections, refuses new ones, and leaves half-open ones', async () => {
    const first = await open();
    expect(proxy.reset()).toBe(1);
    await first.closed;
    const second = await open();
    expect(proxy.halfOpen()).toBe(1);
    second.socket.send('x');
    proxy.set({ refuse: true });
    const refused = connect(proxy.port, '127.0.0.1');
    refused.on('error', () => {});
    await new Promise((resolve) => refused.on('close', resolve));
    expect(second.answers).toEqual([]);
    expect(second.socket.readyState).toBe(WebSocket.OPEN);
    second.socket.terminate();
  });

  it('replays frames of this connection or an earlier one', async () => {
    const first = await open();
    first.socket.send('four');
    await until('an answer', () => first.answers.length === 1);
    first.socket.terminate();
    await first.closed;
    const second = await open();
    proxy.replay(1);
    second.socket.send('seven77');
    await until('both', () => second.answers.length === 2);
    expect(second.answers.sort()).toEqual(['{"type":"desired","document":"4"}', '{"type":"desired","document":"7"}']);
    expect(proxy.replays()).toBe(1);
  });
});
