import { once } from 'node:events';
import { type OutgoingHttpHeaders, type RequestOptions, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { buildDaemonApp } from './app.ts';

/** Names that resolve to this machine, or look as if they were its own. */
const FOREIGN = [
  'evil.example',
  'evil.example:4400',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'notlocalhost',
  'evil-localhost',
  'localhost.',
  'localhost:4400.evil.example',
  'localhost@evil.example',
  'apps.localhost.evil.example',
  'x-8080.apps.localhost.evil.example',
  'evilapps.localhost',
  'content.localhost.evil.example',
  '0x7f000001',
  '2130706433',
  '[::ffff:127.0.0.1]',
  '192.0.2.1',
];
const PAGES: [method: string, path: string][] = [
  ['POST', '/dev/mail/list'],
  ['GET', '/dev/mail'],
  ['GET', '/'],
  ['GET', '/models'],
  ['GET', '/nothing'],
  ['GET', '/configuration.json'],
  ['GET', '/openapi.json'],
  ['GET', '/sitemap.xml'],
  ['GET', '/healthz/'],
  ['OPTIONS', `${API_PREFIX}user/profile`],
  ['POST', `${API_PREFIX}user/profile`],
  ['POST', `${API_PREFIX}auth/email/register`],
  ['POST', '/daemon-api/enrol'],
  ['GET', '/git/a/b.git/info/refs?service=git-upload-pack'],
  ['GET', `${API_PREFIX}events`],
];

interface Answer {
  status: number;
  body: string;
  headers: NodeJS.Dict<string | string[]>;
}

function ask(
  port: number,
  host: string | string[],
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const asked: RequestOptions = {
    host: '127.0.0.1',
    port,
    path,
    method,
    headers: { host, ...headers } as OutgoingHttpHeaders,
    agent: false,
  };
  request(asked, (answer) => {
    text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body, headers: answer.headers }), reject);
  })
    .once('error', reject)
    .end();
  return promise;
}

/** The first line of the answer to what is sent as it is. */
async function statusOfRaw(port: number, lines: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.end(`${lines.join('\r\n')}\r\n\r\n`);
  return (await text(socket)).split('\r\n')[0] ?? '';
}

describe('a request to a host that is none of the platform’s', () => {
  let app: TestApp;
  let port: number;
  let s3Port: number;
  let metricsPort: number;

  beforeAll(async () => {
    metricsPort = await freePort();
    app = await startTestApp({ ALLOWED_HOSTS: 'stagi.internal', METRICS_PORT: String(metricsPort) });
    ({ port, s3Port } = app.ctx.config);
  });
  afterAll(async () => {
    await app?.close();
  });

  it('is refused at every address, by a message that names it and the setting', async () => {
    let probes = 0;
    for (const [method, path] of PAGES) {
      for (const host of FOREIGN) {
        const { status, body, headers } = await ask(port, host, path, { method });
        expect([host, path, status]).toEqual([host, path, 421]);
        expect(headers['access-control-allow-origin']).toBeUndefined();
        if (method !== 'HEAD')
          expect(JSON.parse(body)).toMatchObject({
            isSuccess: false,
            message: `"${host}" is no address of this platform. Its operator can add it to ALLOWED_HOSTS.`,
          });
        probes += 1;
      }
    }
    expect(probes).toBeGreaterThan(200);
    console.log(`foreign hosts: n = ${probes}, 0 answered`);
  });

  it('opens no stream', async () => {
    for (const host of FOREIGN) {
      const line = await statusOfRaw(port, [
        'GET /frontend-api/events?ticket=x HTTP/1.1',
        `Host: ${host}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ]);
      expect([host, line]).toEqual([host, expect.stringMatching(/^HTTP\/1\.1 421 /)]);
    }
  });

  it('is refused without a header, too, and whatever its target says', async () => {
    expect(await statusOfRaw(port, ['GET / HTTP/1.0'])).toMatch(/^HTTP\/1\.1 421 /);
    const absolute = `GET http://localhost:${port}/models HTTP/1.1`;
    expect(await statusOfRaw(port, [absolute, 'Host: evil.example', 'Connection: close'])).toMatch(/^HTTP\/1\.1 421 /);
  });

  it('is not saved by headers that only a proxy may send', async () => {
    for (const name of ['x-forwarded-host', 'forwarded', 'x-host', 'x-original-host', 'x-forwarded-server']) {
      const { status } = await ask(port, 'evil.example', '/dev/mail', { headers: { [name]: `localhost:${port}` } });
      expect([name, status]).toEqual([name, 421]);
    }
  });

  it('is refused by the S3 service in its own words', async () => {
    for (const host of FOREIGN.filter((name) => name !== 'evilapps.localhost')) {
      const { status, body } = await ask(s3Port, host, '/bucket/key');
      expect([host, status]).toEqual([host, 421]);
      expect(body).toContain('<Code>MisdirectedRequest</Code>');
      expect(body).toContain('ALLOWED_HOSTS');
    }
    for (const host of ['localhost', '127.0.0.1', '[::1]', 'bucket.localhost', `localhost:${s3Port}`, 'STAGI.internal'])
      expect([host, (await ask(s3Port, host, '/bucket/key')).status]).toEqual([host, 403]);
    const preflight = { method: 'OPTIONS', headers: { origin: 'http://evil.example' } };
    expect(await ask(s3Port, 'evil.example', '/bucket/key', preflight)).toMatchObject({ status: 421 });
  });

  it('is refused where the metrics are, which are scraped by address', async () => {
    for (const host of FOREIGN.filter((name) => name !== '192.0.2.1' && name !== '[::ffff:127.0.0.1]'))
      expect([host, (await ask(metricsPort, host, '/metrics')).status]).toEqual([host, 421]);
    for (const host of ['localhost', `127.0.0.1:${metricsPort}`, '10.0.0.7:80', '[::1]', 'stagi.internal'])
      expect([host, (await ask(metricsPort, host, '/metrics')).status]).toEqual([host, 200]);
  });

  it('is refused on the network of rented machines', async () => {
    const daemons = await buildDaemonApp(app.ctx);
    try {
      const url = new URL(await daemons.listen({ host: '127.0.0.1', port: 0 }));
      const path = '/daemon-api/enrol';
      for (const host of [...FOREIGN, `x-8080.apps.localhost:${port}`])
        expect([host, (await ask(Number(url.port), host, path, { method: 'POST' })).status]).toEqual([host, 421]);
      expect((await ask(Number(url.port), url.host, path, { method: 'POST' })).status).not.toBe(421);
    } finally {
      await daemons.close();
    }
  });

  it('is answered where it asks only for the state of the process', async () => {
    for (const path of ['/healthz', '/readyz'])
      expect(await ask(port, '10.1.2.3', path)).toMatchObject({ status: 200, body: '{"isSuccess":true}' });
  });
});

describe('a host of the platform', () => {
  it('is each name of loopback, where the origin is one, and what the operator allows', async () => {
    const app = await startTestApp({ ALLOWED_HOSTS: 'stagi.internal, [2001:db8::7]' });
    const { port } = app.ctx.config;
    try {
      const names = ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST', 'stagi.internal', '[2001:db8::7]'];
      for (const name of names)
        for (const host of [name, `${name}:${port}`, `${name}:1`])
          expect([host, (await ask(port, host, '/openapi.json')).status]).toEqual([host, 200]);
      const content = await ask(port, new URL(app.ctx.config.contentOrigin).host, '/');
      expect(content).toMatchObject({ status: 404, body: 'There is nothing at this address.\n' });
      expect((await ask(port, `x-8080.apps.localhost:${port}`, '/')).status).toBe(401);
      for (const [host, status] of [
        ['localhost', 200],
        ['127.0.0.1', 200],
        ['stagi.internal', 421],
      ] as const)
        expect([host, (await ask(port, host, '/dev/mail')).status]).toEqual([host, status]);
    } finally {
      await app.close();
    }
  });

  it('is none of loopback, where the origin is another', async () => {
    const app = await startTestApp({
      APP_ORIGIN: 'https://stagi.example',
      CONTENT_ORIGIN: 'https://content.example',
      S3_ORIGIN: 'https://s3.example',
      DAEMON_ORIGIN: 'https://agents.example',
      APPS_DOMAIN: 'apps.example',
      DEV_MAIL: 'on',
      ALLOWED_HOSTS: '',
    });
    const { port, s3Port } = app.ctx.config;
    try {
      for (const [host, path, status] of [
        ['stagi.example', '/openapi.json', 200],
        ['agents.example', '/openapi.json', 200],
        ['content.example', '/', 404],
        ['x-8080.apps.example', '/', 401],
        ['s3.example', '/openapi.json', 421],
        ['localhost', '/openapi.json', 421],
        ['127.0.0.1', '/openapi.json', 421],
        ['other.stagi.example', '/openapi.json', 421],
        ['stagi.example', '/dev/mail', 421],
        ['127.0.0.1', '/healthz', 200],
      ] as const)
        expect([host, path, (await ask(port, host, path)).status]).toEqual([host, path, status]);
      for (const [host, status] of [
        ['s3.example', 403],
        ['bucket.s3.example', 403],
        ['agents.example', 403],
        ['stagi.example', 421],
        ['localhost', 421],
      ] as const)
        expect([host, (await ask(s3Port, host, '/bucket/key')).status]).toEqual([host, status]);
    } finally {
      await app.close();
    }
  });

  it('is what a trusted proxy was asked for, to the check and to what follows', async () => {
    const app = await startTestApp({ TRUST_PROXY: '127.0.0.1', ALLOWED_HOSTS: 'upstream' });
    const { port, contentOrigin } = app.ctx.config;
    const via = (host: string, forwarded: string, path = '/openapi.json') =>
      ask(port, host, path, { headers: { 'x-forwarded-host': forwarded } });
    try {
      expect((await via('upstream', `localhost:${port}`)).status).toBe(200);
      expect((await via('localhost', 'evil.example')).status).toBe(421);
      expect((await via('localhost', 'localhost, evil.example')).status).toBe(421);
      expect((await via('localhost', 'evil.example, localhost')).status).toBe(200);
      expect((await via('localhost', 'evil.example', '/dev/mail')).status).toBe(421);
      // A path that the platform's router cannot read belongs to the container.
      const ofPort = await via(`localhost:${port}`, `x-8080.apps.localhost:${port}`, '/%E0%A4%A');
      expect(ofPort.status).toBe(401);
      expect(await via('localhost', new URL(contentOrigin).host)).toMatchObject({
        status: 404,
        body: 'There is nothing at this address.\n',
      });
    } finally {
      await app.close();
    }
  });
});
