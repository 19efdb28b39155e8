import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type PortLab, portOf, startPortLab } from './portLab.ts';
import { visitPort } from './portVisitor.ts';
import { until } from './until.ts';

const MB = 1024 * 1024;

let lab: PortLab;
let app: TestApp;
let host: string;
let service: Server;
/** What the program in the container does with a request. */
let program: (asked: IncomingMessage, answer: ServerResponse) => void;

beforeAll(async () => {
  lab = await startPortLab((asked, answer) => program(asked, answer));
  ({ app, host, service } = lab);
});
beforeEach(() => lab.bind(portOf(service)));
afterAll(() => lab?.close());

const byToken = (more: Record<string, string> = {}) => ({ 'x-stagi-token': lab.token, ...more });

it('passes methods, paths, bodies and statuses on as they are', async () => {
  program = async (asked, answer) => {
    let body = '';
    for await (const part of asked) body += part;
    answer.writeHead(asked.method === 'DELETE' ? 204 : 299, 'As Said', { 'X-Asked': `${asked.method} ${asked.url}` });
    answer.end(asked.method === 'DELETE' ? undefined : `got ${body}`);
  };
  let n = 0;
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'REPORT', 'QUERY'])
    for (const path of [
      '/',
      '//x',
      '/a%2Fb?c=%20&d',
      '/.stagi',
      '/%',
      '/%zz?%',
      '/frontend-api/user/profile',
      '/%E4%B8%AD',
    ]) {
      const body = ['POST', 'PUT', 'PATCH'].includes(method) ? 'body' : undefined;
      const got = await visitPort(app, host, { method, path, headers: byToken(), body });
      expect.soft([got.status, got.headers['x-asked']]).toEqual([method === 'DELETE' ? 204 : 299, `${method} ${path}`]);
      if (method !== 'DELETE') expect.soft(got.body).toBe(`got ${body ?? ''}`);
      n += 1;
    }
  const head = await visitPort(app, host, { method: 'HEAD', headers: byToken() });
  expect([head.status, head.body]).toEqual([299, '']);
  console.log(`ports: n = ${n} requests passed on`);
});

it('keeps what is between the platform and a visitor from the container, and the other way round', async () => {
  let raw: string[] = [];
  program = (asked, answer) => {
    raw = asked.rawHeaders;
    answer.writeHead(200, [
      ['Set-Cookie', 'theme=dark; Domain=apps.localhost; Path=/'],
      ['Set-Cookie', 'stagi-port=planted; Path=/'],
      ['Set-Cookie', '__Host-stagi-port=planted; Path=/; Secure'],
      ['Set-Cookie', '=stagi-port=planted'],
      ['Set-Cookie', 'Stagi-Trip-1=planted'],
      ['Set-Cookie', 'plain=1; domain = .localhost ;HttpOnly'],
      ['Clear-Site-Data', '"cookies"'],
      ['Alt-Svc', 'h3=":443"'],
      ['Connection', 'X-Hop'],
      ['X-Hop', 'secret'],
      ['X-Kept', 'Yes'],
    ] as unknown as string[]);
    answer.end('ok');
  };
  const got = await visitPort(app, host, {
    headers: {
      authorization: `bearer ${lab.token}`,
      cookie: 'a=1; stagi-port=x.y.z; __Host-stagi-port=x; stagi-trip-0=1; b=2; STAGI-PORT=3',
      forwarded: 'for=1.2.3.4',
      'x-forwarded-for': '1.2.3.4',
      'x-forwarded-host': 'evil.example',
      'x-real-ip': '1.2.3.4',
      connection: 'close, x-secret',
      'x-secret': 'of the hop',
      te: 'trailers, gzip',
      'proxy-authorization': 'Basic eA==',
      'X-Spelled-So': 'kept',
    },
  });
  const headers = Object.fromEntries(
    Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index]!, raw[2 * index + 1]!]),
  );
  expect(headers).toEqual({
    Host: host,
    cookie: 'a=1; b=2',
    'X-Spelled-So': 'kept',
    'X-Forwarded-For': '127.0.0.1',
    'X-Forwarded-Proto': 'http',
    'X-Forwarded-Host': host,
    TE: 'trailers',
    Connection: 'keep-alive',
  });
  expect(raw).toHaveLength(2 * Object.keys(headers).length);
  expect(got.headers['set-cookie']).toEqual(['theme=dark; Path=/', 'plain=1;HttpOnly']);
  expect(got.headers).toMatchObject({ 'x-kept': 'Yes' });
  for (const gone of ['clear-site-data', 'alt-svc', 'x-hop']) expect.soft(got.headers[gone]).toBeUndefined();

  const passes = ['Basic dXNlcjpwYXNz', 'Bearer something-else', 'Digest x'];
  for (const authorization of passes) {
    await visitPort(app, host, { headers: byToken({ authorization }) });
    expect.soft(raw[raw.findIndex((name) => /^authorization$/i.test(name)) + 1]).toBe(authorization);
    expect.soft(raw.join()).not.toContain(lab.token);
  }
  for (const authorization of [`Bearer ${lab.token}`, `Basic ${Buffer.from(`x:${lab.token}`).toString('base64')}`]) {
    await visitPort(app, host, { headers: byToken({ authorization }) });
    expect.soft(raw.join()).not.toMatch(/authorization/i);
  }
});

it('lets no spelling of its own headers through, which programs would read as the platform’s word', async () => {
  const raw: string[] = [];
  program = (asked, answer) => {
    raw.push(...asked.rawHeaders);
    answer.end();
  };
  const spellings = [
    'X_Forwarded_For',
    'x_forwarded-proto',
    'X-Forwarded_Host',
    'X_FORWARDED_PORT',
    'X.Forwarded.For',
    'x-forwarded',
    'X_Forwarded',
    'X_Real_IP',
    'X-Real_Ip',
    'X.Real-IP',
    'FORWARDED',
    'Proxy',
    'Proxy_Authorization',
    'Content_Length',
    'Transfer_Encoding',
    'X_Stagi_Token',
  ];
  const headers = Object.fromEntries(spellings.map((name) => [name, '6.6.6.6']));
  await visitPort(app, host, { headers: byToken({ ...headers, X_Own_Name: 'kept', 'x-forward': 'kept' }) });
  expect(raw.filter((_, index) => index % 2 === 1)).not.toContain('6.6.6.6');
  expect(raw.join()).toContain('X_Own_Name,kept');
  expect(raw.join()).toContain('x-forward,kept');
  expect(raw.filter((name) => /^x.forwarded.for$/i.test(name))).toEqual(['X-Forwarded-For']);
});

it('streams events without waiting, tells early hints, and keeps trailers of the answer alone', async () => {
  let next: () => void = () => {};
  let trailers: NodeJS.Dict<string> = {};
  program = (asked, answer) => {
    answer.writeEarlyHints({ link: '</style.css>; rel=preload' });
    asked.resume().on('end', () => {
      trailers = asked.trailers;
      answer.writeHead(200, { 'Content-Type': 'text/event-stream', Trailer: 'X-Sum' });
      answer.write('data: one\n\n');
      next = () => {
        answer.write('data: two\n\n');
        answer.addTrailers({
          'X-Sum': '2',
          'Set-Cookie': 'stolen=1; Domain=example.com',
          'Clear-Site-Data': '"*"',
          Location: 'https://evil.example',
          'Alt-Svc': 'h2="evil.example:443"',
        });
        answer.end();
      };
    });
  };
  const asked = request({
    host: '127.0.0.1',
    port: Number(new URL(app.url).port),
    method: 'POST',
    headers: { host, ...byToken(), 'transfer-encoding': 'chunked', trailer: 'X-Asked' },
  });
  const hints = once(asked, 'information');
  const answered = once(asked, 'response');
  asked.write('body');
  asked.addTrailers({
    'X-Asked': 'yes',
    'X-Forwarded-For': '6.6.6.6',
    X_Forwarded_For: '6.6.6.6',
    Forwarded: 'for=6.6.6.6',
    'X-Real-IP': '6.6.6.6',
    Host: 'evil.example',
    Cookie: 'a=1',
  });
  asked.end();
  expect(await hints).toMatchObject([{ statusCode: 103, headers: { link: '</style.css>; rel=preload' } }]);
  const [answer] = (await answered) as [IncomingMessage];
  const ended = once(answer, 'end');
  // The first event comes while the second has not been written.
  const [first] = (await once(answer, 'data')) as [Buffer];
  expect(String(first)).toBe('data: one\n\n');
  next();
  const [second] = (await once(answer, 'data')) as [Buffer];
  expect(String(second)).toBe('data: two\n\n');
  await ended;
  expect(answer.trailers).toEqual({ 'x-sum': '2' });
  expect(trailers).toEqual({});
});

it('holds the container back while its visitor does not read', async () => {
  let written = 0;
  program = (_asked, answer) => {
    const feed = (): void => {
      while (written < 200 * MB && answer.write(Buffer.alloc(64 * 1024))) written += 64 * 1024;
      if (written < 200 * MB) answer.once('drain', feed);
    };
    feed();
  };
  const asked = request({ host: '127.0.0.1', port: Number(new URL(app.url).port), headers: { host, ...byToken() } });
  asked.on('error', () => {});
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.on('error', () => {});
  let before = -1;
  await until('the container is held back', async () => {
    const stands = written === before;
    before = written;
    return stands ? true : null;
  });
  expect(written).toBeLessThan(40 * MB);
  asked.destroy();
});

it('echoes over a WebSocket, and passes its close code on', async () => {
  const sockets = new WebSocketServer({ server: service });
  let closed: [number, string] | null = null;
  sockets.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
    socket.on('close', (code, reason) => {
      closed = [code, String(reason)];
    });
  });
  const dial = () =>
    new WebSocket(`${app.url.replace('http', 'ws')}/socket?x=1`, ['chat'], {
      headers: { ...byToken(), host },
    });
  const socket = dial();
  await once(socket, 'open');
  expect(socket.protocol).toBe('chat');
  const big = randomBytes(3 * MB);
  socket.send('hello');
  expect(String((await once(socket, 'message'))[0])).toBe('hello');
  socket.send(big);
  expect(((await once(socket, 'message'))[0] as Buffer).equals(big)).toBe(true);
  socket.close(4007, 'bye');
  await once(socket, 'close');
  await until('the container hears of the close', async () => closed);
  expect(closed).toEqual([4007, 'bye']);

  const other = dial();
  await once(other, 'open');
  for (const one of sockets.clients) one.close(4001, 'ended');
  expect((await once(other, 'close')).map(String)).toEqual(['4001', 'ended']);
  sockets.close();
  service.removeAllListeners('upgrade');
});

it('passes on what a container answers in place of a WebSocket', async () => {
  const refuse = (_: unknown, socket: { end(text: string): void }) =>
    socket.end('HTTP/1.1 418 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno');
  service.on('upgrade', refuse);
  const socket = new WebSocket(`${app.url.replace('http', 'ws')}/socket`, { headers: { ...byToken(), host } });
  const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  let body = '';
  for await (const part of answer) body += part;
  expect([answer.statusCode, body]).toEqual([418, 'no']);
  service.off('upgrade', refuse);
});

it('repeats a request on another connection when the container has closed an idle one', async () => {
  const server = createServer((_asked, answer) => answer.end('ok'));
  server.keepAliveTimeout = 1;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  lab.bind(portOf(server));
  let failed = 0;
  const n = 300;
  for (let index = 0; index < n; index += 1) {
    const { status } = await visitPort(app, host, { headers: byToken() });
    if (status !== 200) failed += 1;
  }
  console.log(`ports: n = ${n} requests to a server that closes idle connections at once, ${failed} failed`);
  expect(failed).toBe(0);
  server.close();
});

it('passes on an answer that comes before the body was read', async () => {
  program = (_asked, answer) => {
    // It reads on, as servers do: to close now would take its own answer back.
    answer.writeHead(413).end('too large');
  };
  for (let round = 0; round < 20; round += 1) {
    const got = await visitPort(app, host, { method: 'PUT', headers: byToken(), body: Buffer.alloc(8 * MB) });
    expect([got.status, got.body]).toEqual([413, 'too large']);
  }
});

it('uses no connection again that a body or an effect went over', async () => {
  const used = new Set<unknown>();
  program = (asked, answer) => {
    used.add(asked.socket);
    asked.resume().on('end', () => answer.end('ok'));
  };
  const n = 12;
  const visits = [{ method: 'POST', body: 'body' }, { method: 'DELETE' }];
  for (let index = 0; index < n; index += 1) {
    const { status } = await visitPort(app, host, { ...visits[index % 2], headers: byToken() });
    expect(status).toBe(200);
  }
  expect(used.size).toBe(n);
  for (let index = 0; index < n; index += 1) await visitPort(app, host, { headers: byToken() });
  expect(used.size).toBe(n + 1);
  // It leads to this program: the next test has another one.
  service.closeIdleConnections();
});
