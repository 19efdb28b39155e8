import { API_PREFIX } from '@stagi/contract/call.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { buildDaemonApp } from './app.ts';
import { ADDRESSES, EVERYTHING, FORWARDED, NAMES, near, OWN } from './testing/hostileHosts.ts';
import { ask, expectAnswered, expectRefused, expectShapesRefused, requestsSent, send } from './testing/rawHosts.ts';
import { DAEMON, eventsOf, gets, METRICS, OFFERS, OUTBOX, S3, SIGN_UP, STREAMS, WEB } from './testing/surfaces.ts';

afterAll(() => console.log(`rebinding: n = ${requestsSent()} requests`));

describe('a page of another name that resolves to this machine', () => {
  let app: TestApp;
  let port: number;
  let s3Port: number;
  let metricsPort: number;

  beforeAll(async () => {
    metricsPort = await freePort();
    const env = { ALLOWED_HOSTS: 'stagi.internal', METRICS_PORT: String(metricsPort), STAGI_WEB_DIR: '/nowhere' };
    app = await startTestApp(env);
    ({ port, s3Port } = app.ctx.config);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => app?.close());

  it('is told to the log once a minute by each listener', async () => {
    const warn = vi.spyOn(app.ctx.log, 'warn');
    for (const [at, surface] of [[port, OUTBOX] as const, [s3Port, S3[0]!] as const, [metricsPort, METRICS] as const])
      for (let n = 0; n < 30; n += 1) await ask(at, surface, [`Host: evil${n}.example`]);
    const lines = (warn.mock.calls as unknown[][]).filter(([, message]) => String(message).includes('ALLOWED_HOSTS'));
    expect(lines.map(([details]) => details)).toEqual(Array(3).fill({ host: 'evil0.example', likeIt: 0 }));
  });

  it('is told the name that it used, and the setting', async () => {
    const message = '"evil.example" is no address of this platform. Its operator can add it to ALLOWED_HOSTS.';
    for (const [at, surface, told] of [
      [port, OFFERS, JSON.stringify({ isSuccess: false, message }).slice(1, -1)],
      [s3Port, S3[0]!, '<Code>MisdirectedRequest</Code>'],
      [metricsPort, METRICS, message],
    ] as const)
      expect((await ask(at, surface, ['Host: evil.example'])).text).toContain(told);
    const pages = gets(['/', '/models', '/nothing', '/openapi.json', '/sitemap.xml', '/.well-known/security.txt']);
    await expectRefused(port, [...pages, ['OPTIONS', OFFERS[1], '', 0]], ['evil.example']);
    expect((await ask(port, ['HEAD', '/models', '', 0], ['Host: evil.example'])).status).toBe(421);
  });

  it('reads no mail, makes no account and sees no offers', async () => {
    await expectRefused(port, WEB, EVERYTHING);
    await expectShapesRefused(port, WEB);
    expect(await app.ctx.db.selectFrom('mail').select('id').execute()).toEqual([]);
    const others = WEB.filter((surface) => surface !== SIGN_UP);
    await expectAnswered(port, others);
    await expectAnswered(port, [SIGN_UP], ['localhost:PORT']);
    expect((await ask(port, OUTBOX, ['Host: 127.0.0.1:PORT'])).text).toContain('eve@evil.example');
    await expectAnswered(port, [OFFERS], ['STAGI.internal:PORT']);
    await expectAnswered(port, [OUTBOX, WEB[4]!], ['stagi.internal', 'stagi.internal:PORT'], 421);
  });

  it('gets nothing by a path like that of a probe, nor by a second request on a connection', async () => {
    const paths = [
      ...['/healthz/', '//healthz', '/healthz/../dev/mail', '/healthz;/dev/mail', '/healthz%2F..%2Fdev%2Fmail'],
      ...['http://localhost/healthz', '/readyz/x', '/HEALTHZ', '/dev/./mail', '/dev//mail', '/dev%2Fmail', '/DEV/mail'],
    ];
    await expectRefused(port, gets(paths), ['evil.example:PORT']);
    const second = ['', 'GET /dev/mail HTTP/1.1', 'Host: evil.example', 'Connection: close'];
    const { text } = await send(port, ['GET /healthz HTTP/1.1', 'Host: localhost', ...second]);
    expect(text.match(/(?<=HTTP\/1\.1 )\d{3}/g)).toEqual(['200', '421']);
  });

  it('learns only that the process runs', async () => {
    await expectAnswered(port, gets(['/healthz', '/readyz'], 200), ['evil.example', '10.0.0.7', '', 'localhost:PORT']);
    expect((await send(port, ['GET /healthz HTTP/1.0'])).text).toMatch(/ 200 [\s\S]*\r\n\r\n\{"isSuccess":true\}$/);
  });

  it('opens no stream, terminal or link, and spends no ticket', async () => {
    await expectRefused(port, [...STREAMS, ...DAEMON], EVERYTHING);
    await expectShapesRefused(port, [...STREAMS, ...DAEMON]);
    await expectAnswered(port, [...STREAMS, ...DAEMON]);
    const events = await eventsOf(app);
    const hosts = ['evil.example:PORT', 'localhost.evil.example:PORT', 'localhost:1', '127.0.0.1:PORT', '0.0.0.0:PORT'];
    await expectRefused(port, [events], hosts.slice(0, 2), (host) => [`Host: ${host}`, `Origin: http://${host}`]);
    for (const origin of ['null', 'file://', '', 'localhost:PORT', ...hosts.map((host) => `http://${host}`)]) {
      const { status } = await ask(port, events, ['Host: localhost:PORT', `Origin: ${origin}`]);
      expect.soft([origin, status]).toEqual([origin, 403]);
    }
    expect((await ask(port, events, ['Host: 127.0.0.1:PORT', 'Origin: http://127.0.0.1:PORT'])).status).toBe(101);
  });

  it('reads nothing across origins at the platform’s own name', async () => {
    for (const [method, path, body] of WEB.filter(([, path]) => !path.startsWith('/.well-known')))
      for (const origin of ['http://evil.example', 'null', 'http://localhost.evil.example:PORT'])
        for (const asked of [method, 'OPTIONS']) {
          const { text } = await ask(port, [asked, path, body, 0], ['Host: localhost:PORT', `Origin: ${origin}`]);
          expect.soft(text, path).not.toMatch(/access-control-allow-origin/i);
        }
    const form = ['Host: localhost', 'Content-Type: text/plain', 'Content-Length: 2', 'Connection: close'];
    expect((await send(port, [`POST ${SIGN_UP[1]} HTTP/1.1`, ...form], '{}')).status).toBe(415);
  });

  it('is no content host, and the content host serves nothing of the platform', async () => {
    const others = ['x.content.localhost:PORT', 'xcontent.localhost:PORT'];
    await expectRefused(port, WEB, [...near('content.localhost'), ...others]);
    const paths = [...WEB, ...STREAMS, ...DAEMON].map(([, path]) => path);
    await expectAnswered(port, [...gets(paths), ...STREAMS, DAEMON[3]!], ['Content.localhost:PORT'], 404);
    await expectAnswered(port, [OUTBOX, SIGN_UP], ['content.localhost:PORT'], 405);
    const { text } = await ask(port, ['GET', `/share/${'x'.repeat(43)}/a`, '', 0], ['Host: content.localhost:PORT']);
    expect(text).toMatch(/^HTTP\/1\.1 404 [\s\S]*sandbox; default-src 'none'/);
  });

  it('is no host of a port, and these serve nothing of the platform', async () => {
    const others = ['x-8080.apps.localhost', 'x-8080.apps.localhost:1', 'x-8080.evilapps.localhost:PORT'];
    await expectRefused(port, WEB, [...near('x-8080.apps.localhost'), ...near('apps.localhost'), ...others]);
    const ports = ['x-8080.apps.localhost:PORT', 'X-8080.APPS.localhost:PORT'];
    await expectAnswered(port, [...WEB, ...STREAMS, ...DAEMON, ...gets(['/healthz'])], ports, 401);
    const strange = ['apps.localhost:PORT', 'a.b.apps.localhost:PORT', 'evil.example,x-8080.apps.localhost:PORT'];
    await expectAnswered(port, [...WEB, ...DAEMON], strange, 404);
  });

  it('reaches no bucket, by its path or its host', async () => {
    const hosts = near('bucket.localhost').filter((host) => !host.endsWith('.localhost'));
    const others = ['bucket.evil-localhost', 'bucketlocalhost', 'bucket.127.0.0.1:PORT', 'bucket.[::1]:PORT'];
    const headersOf = (host: string) => [`Host: ${host}`, `Origin: http://localhost:${port}`];
    await expectRefused(s3Port, S3, [...EVERYTHING, ...hosts, ...others], headersOf);
    await expectShapesRefused(s3Port, S3);
    await expectAnswered(s3Port, S3, [...OWN, 'bucket.localhost:PORT', 'BUCKET.localhost', 'my.bucket.localhost']);
  });

  it('reads no metrics, which are told by address', async () => {
    await expectRefused(metricsPort, [METRICS], [...NAMES, 'content.localhost', 'x.localhost', 'x.stagi.internal']);
    await expectShapesRefused(metricsPort, [METRICS]);
    await expectAnswered(metricsPort, [METRICS], [...OWN, ...ADDRESSES, '10.0.0.7:80', '[2001:db8::7]:80']);
    await expectAnswered(metricsPort, [METRICS], ['stagi.internal:PORT']);
  });

  it('calls nothing on the network of rented machines', async () => {
    const daemons = await buildDaemonApp(app.ctx);
    try {
      const at = Number(new URL(await daemons.listen({ host: '127.0.0.1', port: 0 })).port);
      await expectRefused(at, DAEMON, [...EVERYTHING, `x-8080.apps.localhost:${port}`, `content.localhost:${port}`]);
      await expectRefused(at, WEB, ['evil.example', 'evil.example:PORT']);
      await expectShapesRefused(at, DAEMON);
      await expectAnswered(at, DAEMON);
      await expectAnswered(at, [OUTBOX, SIGN_UP], OWN, 404);
    } finally {
      await daemons.close();
    }
  });

  it('gets 421 also for paths that the router cannot read', async () => {
    const paths = ['/%E0%A4%A', `${API_PREFIX}user/picture/${'x'.repeat(101)}`];
    await expectRefused(port, gets(paths), ['evil.example']);
  });

  it('finds no platform at the content host with another port', async () => {
    for (const host of ['content.localhost', 'content.localhost:1'])
      for (const surface of [OFFERS, SIGN_UP, WEB[3]!]) {
        const { status } = await ask(port, surface, [`Host: ${host}`]);
        expect.soft([404, 405, 421], `${host} ${surface[1]}: ${status}`).toContain(status);
      }
  });

  it('is no bucket host that S3 does not read as one', async () => {
    const names = ['evil.example,x.localhost', 'evil@bucket.localhost', 'http://bucket.localhost', '.localhost'];
    await expectRefused(s3Port, [S3[0]!], names);
    const { status } = await ask(s3Port, ['GET', '/Key_/x', '', 0], ['Host: bucket.stagi.internal']);
    expect.soft([403, 421], `path style at a bucket host: ${status}`).toContain(status);
  });

  it('does not hold back the streams of a page at an allowed host', async () => {
    const headers = ['Host: stagi.internal:PORT', 'Origin: http://stagi.internal:PORT'];
    expect((await ask(port, await eventsOf(app), headers)).status).toBe(101);
  });
});

describe('behind TRUST_PROXY', () => {
  let app: TestApp;
  let port: number;
  const via = (forwarded: string, host = 'localhost:PORT') => [`Host: ${host}`, `X-Forwarded-Host: ${forwarded}`];

  beforeAll(async () => {
    app = await startTestApp({ TRUST_PROXY: '127.0.0.1', ALLOWED_HOSTS: '', STAGI_WEB_DIR: '/nowhere' });
    ({ port } = app.ctx.config);
  });
  afterAll(() => app?.close());

  it('a peer that is no proxy is known by Host alone', async () => {
    for (const surface of [OUTBOX, SIGN_UP, OFFERS, ...STREAMS, ...DAEMON]) {
      for (const header of FORWARDED)
        expect.soft((await ask(port, surface, ['Host: evil.example', header], '127.0.0.2')).status, header).toBe(421);
      for (const name of ['evil.example', 'content.localhost:PORT', 'x-8080.apps.localhost:PORT'])
        expect.soft((await ask(port, surface, via(name), '127.0.0.2')).status, name).toBe(surface[3]);
    }
  });

  it('the proxy’s name is checked, and routes', async () => {
    const names = EVERYTHING.filter((name) => !/, ?localhost$/.test(name));
    await expectRefused(port, [OUTBOX, SIGN_UP, STREAMS[0]!, DAEMON[3]!], [...names, '', 'localhost,'], via);
    await expectRefused(port, [OUTBOX], ['evil.example'], (host) => [...via('localhost'), `X-Forwarded-Host: ${host}`]);
    await expectRefused(port, [OUTBOX], ['evil.example'], (host) => [`Host: ${host}`, 'Forwarded: host=localhost']);
    await expectRefused(app.ctx.config.s3Port, S3, ['evil.example'], (host) => via('localhost', host));
    for (const [forwarded, host, path, status] of [
      ['x-8080.apps.localhost:PORT', '127.0.0.1:PORT', '/dev/mail', 401],
      ['x-8080.apps.localhost:PORT', 'localhost:PORT', '/%E0%A4%A', 401],
      ['content.localhost:PORT', '127.0.0.1', '/dev/mail', 404],
      ['evil.example, localhost:PORT', '127.0.0.1', '/dev/mail', 200],
      ['evil.example', 'localhost', '/healthz', 200],
    ] as const)
      expect.soft((await ask(port, gets([path])[0]!, via(forwarded, host))).status, forwarded).toBe(status);
  });

  it('a page cannot name the platform by a header of its own, which proxies pass on', async () => {
    await expectRefused(port, [OUTBOX, SIGN_UP, OFFERS], ['evil.example:PORT'], (host) => via('localhost:PORT', host));
    for (const host of ['x-8080.apps.localhost:PORT', 'content.localhost:PORT']) {
      const { status } = await ask(port, OUTBOX, via('localhost:PORT', host));
      expect.soft([401, 405, 421], `${host}: ${status}`).toContain(status);
    }
  });

  it('a stream opens at the name that the proxy was asked for', async () => {
    const headers = [...via('127.0.0.1:PORT'), 'Origin: http://127.0.0.1:PORT'];
    expect((await ask(port, await eventsOf(app), headers)).status).toBe(101);
  });
});

describe('where the origin is not loopback', () => {
  let app: TestApp;
  let daemons: Awaited<ReturnType<typeof buildDaemonApp>>;
  let daemonPort: number;

  beforeAll(async () => {
    app = await startTestApp({
      ...{ APP_ORIGIN: 'https://stagi.example', CONTENT_ORIGIN: 'https://content.example', DEV_MAIL: 'on public' },
      ...{ DAEMON_ORIGIN: 'https://agents.example', S3_ORIGIN: 'https://s3.example' },
      ALLOWED_HOSTS: 'localhost, a.internal',
    });
    daemons = await buildDaemonApp(app.ctx);
    daemonPort = Number(new URL(await daemons.listen({ host: '127.0.0.1', port: 0 })).port);
  });
  afterAll(async () => {
    await daemons?.close();
    await app?.close();
  });

  it('names of loopback are none of the platform’s, and its outbox is at no other', async () => {
    const { port, s3Port } = app.ctx.config;
    const around = ['x.stagi.example', 'stagi-example', 'stagi.example.', 'x.a.internal', 's3.example', 'xlocalhost'];
    await expectRefused(port, WEB, [...ADDRESSES, ...around, '127.0.0.1', '[::1]', '127.0.0.1:PORT']);
    await expectRefused(s3Port, S3, ['stagi.example', 'xs3.example', 's3.example.evil', '127.0.0.2', '[::1]:PORT']);
    await expectAnswered(s3Port, S3, ['s3.example', 'bucket.s3.example', 'agents.example', 'localhost:PORT']);
    // The platform asks it by this address, which no page of another name has.
    await expectAnswered(s3Port, S3, ['127.0.0.1:PORT']);
    await expectAnswered(port, [OFFERS], ['stagi.example', 'STAGI.example:443', 'a.internal', 'localhost']);
    await expectAnswered(port, [OUTBOX], ['stagi.example', 'agents.example', 'a.internal', '127.0.0.1'], 421);
    await expectAnswered(port, [OUTBOX], ['localhost', 'localhost:PORT'], 200);
    await expectRefused(daemonPort, DAEMON, ['stagi.example', 'content.example', 'evil.example', '10.0.0.7']);
    await expectAnswered(daemonPort, DAEMON, ['agents.example', 'localhost']);
  });

  it('servers of the local cloud that were rented before DAEMON_ORIGIN was set reach their listener', async () => {
    await expectAnswered(daemonPort, DAEMON, ['127.0.0.1:PORT']);
  });
});
