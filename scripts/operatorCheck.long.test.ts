import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { startForgingProvider } from '@stagi/server/src/identities/testing/forgingProvider.ts';
import { type Certificate, makeAuthority, makeCertificate } from '@stagi/server/src/testing/certificates.ts';
import { createTestDatabase } from '@stagi/server/src/testing/database.ts';
import { runOperator } from '@stagi/server/src/testing/operator.ts';
import { type Platform, spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import { type Smtp, startSmtp } from '@stagi/server/src/testing/smtp.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const DAYS = 60;
const FEW_DAYS = 5;

describe('a platform behind a proxy with TLS', () => {
  let folder: string;
  let authority: Certificate;
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let smtp: Smtp;
  let proxy: Proxy;
  let platform: Platform;
  let settings: Record<string, string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stagi-check-'));
    mkdirSync(join(folder, 'none'));
    authority = makeAuthority(folder);
    database = await createTestDatabase();
    smtp = await startSmtp('stagi', 'of the mail');
    proxy = await startProxy(makeCertificate(folder, authority, ['*.stagi.localhost', '*.apps.localhost'], DAYS));
    const named = (name: string) => `https://${name}.stagi.localhost:${proxy.port}`;
    settings = {
      ...{ DATABASE_URL: database.url, STAGI_DATA: join(folder, 'data') },
      ...{ APP_ORIGIN: named('www'), CONTENT_ORIGIN: named('content'), S3_ORIGIN: named('s3') },
      ...{
        DAEMON_ORIGIN: named('agents'),
        S3_MACHINE_ORIGIN: named('s3'),
        APPS_DOMAIN: `apps.localhost:${proxy.port}`,
      },
      ...{ TRUST_PROXY: '127.0.0.1', SMTP_URL: smtp.url, MAIL_FROM: 'Stagi <stagi@stagi.localhost>' },
      ...{ STAGI_ENVIRONMENT: 'check', LOCAL_CLOUD: 'off' },
    };
    platform = await spawnPlatform(settings);
    const [{ port }, { port: s3Port }] = [new URL(platform.url), new URL(platform.s3Url)];
    Object.assign(settings, { PORT: port, S3_PORT: s3Port });
    proxy.leadTo({ app: Number(port), s3: Number(s3Port) });
  });
  afterAll(async () => {
    await platform?.remove();
    await proxy?.close();
    await smtp?.close();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => proxy.behave({}));

  const check = (more: Record<string, string> = {}, ...flags: string[]) =>
    runOperator(
      {
        ...settings,
        NODE_EXTRA_CA_CERTS: '',
        SSL_CERT_DIR: join(folder, 'none'),
        SSL_CERT_FILE: authority.certificate,
        ...more,
      },
      'check',
      ...flags,
    );

  it('is well: each part answers, each setting is told with its effect, and no secret is', async () => {
    const { code, out } = await check({ STAGI_SECRET_KEY: '' });
    expect(out).toContain('0 problems, 0 warnings');
    expect(code).toBe(0);
    for (const line of [
      /^ {4}APP_ORIGIN = https:\/\/www\.stagi\.localhost:\d+\n {6}the address that browsers see$/m,
      /^✓ Database +PostgreSQL \d+\S*, database \w+, user \w+$/m,
      /^✓ Schema +up to date$/m,
      /^✓ Secret key +\S+secret\.key\. Keep a copy apart from the backups$/m,
      /^✓ Mail +127\.0\.0\.1:\d+ answers; mails come from Stagi <stagi@stagi\.localhost>$/m,
      /^✓ Platform +runs$/m,
      /^✓ S3_INTERNAL_ORIGIN +http:\/\/127\.0\.0\.1:\d+ \(127\.0\.0\.1\)$/m,
    ])
      expect(out).toMatch(line);
    for (const name of ['APP_ORIGIN', 'CONTENT_ORIGIN', 'S3_ORIGIN', 'APPS_DOMAIN', 'DAEMON_ORIGIN'])
      expect(out).toMatch(
        new RegExp(`^✓ ${name} +https://\\S+ \\(127\\.0\\.0\\.1\\), certificate for another 59 days$`, 'm'),
      );
    expect(out).not.toContain('of%20the%20mail');
    expect((await check({}, '--all')).out).toContain('STARTER_CREDIT = not set: 50');
  });

  it('is told which login of its own answers, and which does not', async () => {
    const there = await startForgingProvider();
    const entry = { clientId: 'stagi', clientSecret: 'of-a-provider' };
    try {
      const { code, out } = await check({
        OPENID_PROVIDERS: JSON.stringify([
          { ...entry, id: 'lab', name: 'Lab', issuer: there.issuer },
          { ...entry, id: 'other', name: 'Other', issuer: `${there.issuer}/other` },
          { ...entry, id: 'away', name: 'Away', issuer: `http://127.0.0.1:${await freePort()}` },
        ]),
      });
      expect(code).toBe(1);
      expect(out).toMatch(/! Login with Lab +http:\S+ does not say that it checks PKCE/);
      expect(out).toMatch(/✗ Login with Other +http:\S+\/other: .* Check the issuer in OPENID_PROVIDERS/);
      expect(out).toMatch(/✗ Login with Away +http:\S+: .*ECONNREFUSED.* Check the issuer in OPENID_PROVIDERS/);
      expect(out).not.toContain('of-a-provider');
    } finally {
      await there.close();
    }
  });

  it('is told what its proxy does wrong', async () => {
    const wrongs: [Behaviour, RegExp][] = [
      [{ host: 'upstream' }, /✗ APP_ORIGIN .*another name arrives here\. Let the proxy pass the Host header on/],
      [{ dropsUpgrades: true }, /✗ APP_ORIGIN +WebSockets do not get through: .* \(status \d{3}\)/],
      [{ largestBody: 1_000_000 }, /✗ S3_ORIGIN +large uploads do not get through: .* \(status 413\)/],
      [{ answers: 502 }, /✗ CONTENT_ORIGIN .*the proxy answers, the platform does not \(status 502\)/],
    ];
    for (const [behaviour, line] of wrongs) {
      proxy.behave(behaviour);
      const { code, out } = await check();
      expect([code, out]).toEqual([1, expect.stringMatching(line)]);
    }
  });

  it('is told what is wrong with its certificates, also by an authority that this machine does not know', async () => {
    expect((await check({ SSL_CERT_FILE: '/dev/null' })).out).toMatch(
      /✗ APP_ORIGIN .*this machine does not know .*update-ca-certificates|✗ APP_ORIGIN .*serve the full chain/,
    );
    for (const [names, days, line] of [
      [['*.other.localhost'], DAYS, /✗ S3_ORIGIN .*its certificate is for other names/],
      [['*.stagi.localhost', '*.apps.localhost'], FEW_DAYS, /! APPS_DOMAIN .*for another 4 days: renew it/],
      [['*.stagi.localhost', '*.apps.localhost'], -1, /✗ APP_ORIGIN .*has expired: renew it/],
    ] as const) {
      proxy.show(makeCertificate(folder, authority, names, days));
      expect((await check()).out).toMatch(line);
    }
    proxy.show(makeCertificate(folder, authority, ['*.stagi.localhost', '*.apps.localhost'], DAYS));
    expect((await check()).code).toBe(0);
  });

  it('is told of what else does not work, each in a sentence', async () => {
    const file = join(folder, 'stagi.env');
    writeFileSync(file, 'SMPT_URL=smtp://mail.example\nPORT=1\n');
    chmodSync(join(settings.STAGI_DATA!, 'secret.key'), 0o444);
    const location = { title: 'Far', endpoint: 'http://127.0.0.1:1', bucket: 'far', accessKeyId: 'a' };
    const { code, out } = await check({
      STAGI_ENV_FILE: file,
      SMTP_URL: smtp.url.replace('of%20the%20mail', 'wrong'),
      S3_LOCATIONS: JSON.stringify([{ name: 'far', ...location, secretAccessKey: 'hidden' }]),
      TRUST_PROXY: '',
      CONTENT_ORIGIN: 'https://content.invalid',
    });
    chmodSync(join(settings.STAGI_DATA!, 'secret.key'), 0o400);
    expect(code).toBe(1);
    for (const line of [
      /^! Settings .*sets SMPT_URL, and no setting has that name: SMTP_URL is meant\?$/m,
      /^✗ Secret key +others may read \S+secret\.key: chmod 400/m,
      /^✗ Mail +127\.0\.0\.1:\d+: .*535 who are you\. Check SMTP_URL$/m,
      /^✗ S3 location far +bucket far: cannot (write|remove) at location far .*ECONNREFUSED/m,
      /^✗ TRUST_PROXY +not set: /m,
      /^✗ CONTENT_ORIGIN +the name content\.invalid has no address: add it to the DNS$/m,
    ])
      expect(out).toMatch(line);
    expect(out).not.toMatch(/hidden|wrong/);
  });

  it('is told that its database is away, is that of another platform, or has too few connections', async () => {
    const away = await check({ DATABASE_URL: 'postgres://stagi:hidden@127.0.0.1:1/stagi' });
    expect(away).toMatchObject({
      code: 1,
      out: expect.stringMatching(/✗ Database +cannot be reached: .*ECONNREFUSED/),
    });
    expect(away.out).not.toContain('hidden');
    const other = await check({ STAGI_DATA: join(folder, 'other') });
    expect(other).toMatchObject({ code: 1, out: expect.stringMatching(/✗ Database +STAGI_DATA/) });
    expect((await check({ DATABASE_CONNECTIONS: '40' })).out).toMatch(
      /! Database +at most \d+ connections: enough for/,
    );
  });

  it('is not running: what can be told without it is', async () => {
    await platform.stop();
    const { code, out } = await check();
    expect(out).toMatch(/! Platform +does not answer at 127\.0\.0\.1:\d+: the names are checked while it runs/);
    expect([code, out]).toEqual([0, expect.stringContaining('0 problems, 1 warning')]);
    await platform.start();
  });
});

it('needs no settings before the first start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-check-'));
  try {
    const free = { PORT: String(await freePort()), LOCAL_CLOUD: 'off', DATABASE_URL: '' };
    const { code, out } = await runOperator({ ...free, STAGI_DATA: folder }, 'check');
    expect([code, out]).toEqual([0, expect.stringMatching(/✓ Database +the first start makes one in /)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

interface Behaviour {
  /** Sent on as the Host header. */
  host?: string;
  dropsUpgrades?: boolean;
  largestBody?: number;
  /** The proxy's own answer to everything. */
  answers?: number;
}

interface Proxy {
  port: number;
  leadTo(ports: { app: number; s3: number }): void;
  behave(behaviour: Behaviour): void;
  show(files: Certificate): void;
  close(): Promise<void>;
}

async function startProxy(files: Certificate): Promise<Proxy> {
  let ports = { app: 0, s3: 0 };
  let behaviour: Behaviour = {};
  const portOf = ({ headers }: IncomingMessage) => (headers.host?.startsWith('s3.') ? ports.s3 : ports.app);
  const server: Server = createServer(contentOf(files), (incoming, outgoing) => {
    const { host, largestBody, answers } = behaviour;
    const isTooLarge = largestBody !== undefined && Number(incoming.headers['content-length'] ?? 0) > largestBody;
    if (answers || isTooLarge) {
      outgoing.writeHead(answers ?? 413).end();
      return;
    }
    const headers = { ...incoming.headers, ...(host && { host }) };
    const asked = request(
      { host: '127.0.0.1', port: portOf(incoming), path: incoming.url, method: incoming.method, headers },
      (answer) => answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, answer.headers)),
    );
    // The one who asked may leave first, or the platform be away.
    asked.on('error', () => outgoing.destroy());
    asked.flushHeaders();
    outgoing.on('close', () => asked.destroy());
    incoming.pipe(asked);
  });
  server.on('upgrade', (incoming: IncomingMessage, client: Socket) => {
    client.on('error', () => client.destroy());
    if (behaviour.dropsUpgrades) {
      client.end('HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      return;
    }
    const lines = incoming.rawHeaders.flatMap((name, at, all) => (at % 2 === 0 ? [`${name}: ${all[at + 1]}`] : []));
    const upstream = connect(portOf(incoming), '127.0.0.1');
    upstream.on('error', () => client.destroy());
    upstream.write(`${[`GET ${incoming.url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`);
    upstream.pipe(client).pipe(upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (to) => {
      ports = to;
    },
    behave: (so) => {
      behaviour = so;
    },
    show: (others) => server.setSecureContext(contentOf(others)),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const contentOf = ({ certificate, key }: Certificate) => ({ cert: readFileSync(certificate), key: readFileSync(key) });
