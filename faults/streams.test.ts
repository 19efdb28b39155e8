import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { OPENING_HEADER, STREAMS_PATH, type StreamTarget } from '@stagi/contract/daemonStreams.ts';
import { COMMAND_AUDIENCE } from '@stagi/contract/desiredState.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type StreamLab, startStreamLab } from './streamLab.ts';
import { until } from './until.ts';

const MB = 1024 * 1024;

let lab: StreamLab;
let app: TestApp;

beforeAll(async () => {
  lab = await startStreamLab();
  ({ app } = lab);
});
afterAll(() => lab?.close());

const open = (target: StreamTarget) => lab.open(target);

it('holds back one stream whose reader stands still, and no other', async () => {
  const stalled = await open({ kind: 'echo' });
  let written = 0;
  stalled.on('error', () => {});
  const feed = (): void => {
    while (stalled.write(Buffer.alloc(64 * 1024))) written += 64 * 1024;
    written += 64 * 1024;
    if (written < 64 * MB) stalled.once('drain', feed);
  };
  feed();
  const other = await open({ kind: 'echo' });
  other.end(Buffer.alloc(8 * MB, 1));
  let bytes = 0;
  for await (const part of other) bytes += (part as Buffer).length;
  expect(bytes).toBe(8 * MB);
  expect(written).toBeLessThan(16 * MB);
  stalled.destroy();
});

it('carries texts that are written together with bytes as they are', async () => {
  const stream = await open({ kind: 'echo' });
  const lines = Array.from({ length: 500 }, (_, index) => `line ${index} of some length, to be told from others\n`);
  const writing = (async () => {
    for (const line of lines) {
      stream.cork();
      stream.write(line.slice(0, 24), 'latin1');
      stream.write(Buffer.from(line.slice(24)));
      stream.uncork();
      await new Promise(setImmediate);
    }
    stream.end('end\n');
  })();
  let got = '';
  for await (const part of stream) got += part;
  await writing;
  expect(got).toBe(`${lines.join('')}end\n`);
});

it('half-closes: an answer comes after the end of the question', async () => {
  const service = createServer({ allowHalfOpen: true }, (socket) => {
    let question = '';
    socket.on('data', (data) => {
      question += data;
    });
    socket.on('end', () => socket.end(`you said ${question}`));
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  const { port: host } = service.address() as AddressInfo;
  lab.desired.containers = [{ id: 7, state: 'running', spec: { ports: [{ host, container: 80 }] } }];
  lab.actual.containers = [aRunning(7, host)];
  const stream = await open({ kind: 'port', containerId: 7, port: 80 });
  stream.end('hello');
  let answer = '';
  for await (const part of stream) answer += part;
  expect(answer).toBe('you said hello');
  service.close();
});

const aRunning = (id: number, host: number): ActualContainer => ({
  id,
  gen: 1,
  dockerId: String(id),
  state: 'running',
  exitCode: null,
  oomKilled: false,
  error: null,
  startedAt: null,
  finishedAt: null,
  ports: [{ host, container: 80, address: '127.0.0.1' }],
});

it('refuses what the server does not have, with the reason', async () => {
  lab.desired.containers = [
    { id: 7, state: 'running', spec: { ports: [{ host: 1, container: 80 }] } },
    { id: 8, state: 'stopped', spec: { ports: [{ host: 1, container: 80 }] } },
    { id: 10, state: 'running', spec: { ports: [{ host: 2, container: 80 }] } },
    { id: 11, state: 'running', spec: { ports: [{ host: 1, container: 80 }] } },
  ];
  lab.actual.containers = [7, 8, 10].map((id) => aRunning(id, 1));
  // Created before the port was desired; and not created yet.
  await expect(open({ kind: 'port', containerId: 10, port: 80 })).rejects.toMatchObject({ status: 404 });
  await expect(open({ kind: 'port', containerId: 11, port: 80 })).rejects.toMatchObject({ status: 409 });
  await expect(open({ kind: 'port', containerId: 9, port: 80 })).rejects.toMatchObject({ status: 404 });
  await expect(open({ kind: 'port', containerId: 7, port: 81 })).rejects.toMatchObject({ status: 404 });
  await expect(open({ kind: 'port', containerId: 8, port: 80 })).rejects.toMatchObject({ status: 409 });
  await expect(open({ kind: 'port', containerId: 7, port: 80 })).rejects.toMatchObject({
    status: 409,
    message: 'Nothing listens on this port',
  });
});

it('opens nothing with an opening that is not the platform’s, for this node and link, and new', async () => {
  const { privateKey } = app.ctx.keys.command;
  const epoch = (await lab.daemon.next('welcome')).epoch;
  const stranger = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const signed = (
    change: Record<string, unknown> = {},
    { typ = 'stream+jwt', audience = COMMAND_AUDIENCE, exp = '30s', signer = privateKey as unknown as CryptoKey } = {},
  ) =>
    new SignJWT({ node: lab.key.node, epoch, id: crypto.randomUUID(), open: { kind: 'echo' }, ...change })
      .setProtectedHeader({ alg: 'EdDSA', typ })
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(exp)
      .sign(signer);
  const good = await signed();
  const bad: Record<string, string> = {
    'another node': await signed({ node: '999' }),
    'an earlier link': await signed({ epoch: epoch - 1 }),
    'a later link': await signed({ epoch: epoch + 1 }),
    'no id': await signed({ id: undefined }),
    'an unknown kind': await signed({ open: { kind: 'address', host: '127.0.0.1' } }),
    'an address beside the port': await signed({ open: { kind: 'port', containerId: 7, port: 99_999 } }),
    'another document': await signed({}, { typ: 'command+jwt' }),
    'another audience': await signed({}, { audience: 'stagi-daemon-link' }),
    expired: await signed({}, { exp: '-5m' }),
    'a stranger’s signature': await signed({}, { signer: stranger.privateKey }),
    'no signature': good.replace(/\.[^.]*$/, '.'),
    'a cut signature': good.slice(0, -4),
    'no document': '',
  };
  // Through the daemon's own server, past the hub.
  const raw = await rawSession();
  expect(await raw(good)).toBe(200);
  expect(await raw(good)).toBe(403);
  let refused = 0;
  for (const [what, document] of Object.entries(bad)) {
    expect(await raw(document), what).toBe(403);
    refused += 1;
  }
  console.log(`streams: n = ${refused + 1} bad openings, 0 accepted`);
});

/** Statuses of openings on a second socket of the daemon, which answers this test in place of the platform. */
async function rawSession(): Promise<(document: string) => Promise<number>> {
  const { WebSocketServer, createWebSocketStream } = await import('ws');
  const http2 = await import('node:http2');
  const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(wss, 'listening');
  const origin = `http://127.0.0.1:${(wss.address() as AddressInfo).port}`;
  const server = lab.streamServer(origin);
  const connected = once(wss, 'connection') as Promise<[WebSocket]>;
  server.dial('ticket', (await lab.daemon.next('welcome')).epoch, lab.link.signal);
  const [socket] = await connected;
  const wire = createWebSocketStream(socket);
  const session = http2.connect('http://daemon', { createConnection: () => wire });
  session.on('close', () => wss.close());
  return async (document) => {
    const stream = session.request({ ':method': 'POST', [OPENING_HEADER]: document });
    stream.on('error', () => {});
    const [headers] = await once(stream, 'response');
    stream.destroy();
    return headers[':status'] as number;
  };
}

it('takes a second socket only with a ticket, once', async () => {
  const dialled = async (authorization?: string): Promise<number> => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}${STREAMS_PATH}`, {
      headers: authorization ? { authorization } : {},
    });
    const [code] = await once(socket, 'close');
    return code as number;
  };
  const { ticket } = await lab.daemon.next('streams');
  for (const authorization of [undefined, 'Bearer ', 'Bearer x', `Bearer ${ticket}`, `Basic ${ticket}`])
    expect(await dialled(authorization)).toBe(4401);
});

it('ends with its link, and says why it cannot be opened then', async () => {
  const stream = await open({ kind: 'echo' });
  stream.on('error', () => {});
  const ended = new Promise((resolve) => stream.on('close', resolve));
  await lab.daemon.close();
  await ended;
  await expect(open({ kind: 'echo' })).rejects.toMatchObject({ status: 503 });
  await lab.dialIn();
  const again = await until('streams are back with the next link', () => open({ kind: 'echo' }).catch(() => null));
  again.destroy();
});
