import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { api } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { aMachine, type Machine } from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import { type Certificate, makeAuthority, makeCertificate } from '@stagi/server/src/testing/certificates.ts';
import { mailedCode, PASSWORD, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { type Platform, spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type Nginx, shipped, startNginx, withoutNginx } from './testing/nginx.ts';
import { answerOf, aVisitor, toThisMachine, type Visitor } from './testing/visitor.ts';

const MB = 1024 * 1024;
const LARGE = 50 * MB;
/** Sent before the rest of an upload is held back. */
const FIRST = 8 * MB;
/** Other than that of nginx, which the platform trusts. */
const ADDRESS = '127.0.0.3';
const within = (condition: () => Promise<unknown>) => vi.waitFor(condition, { timeout: 60_000, interval: 100 });
const reason = withoutNginx();
if (reason) console.log(`Skipped: ${reason}`);

/** The platform as visitors reach it, through nginx on the files of `deploy/nginx`. */
describe.skipIf(reason)('behind nginx', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-nginx-'));
  let platform: Platform;
  let nginx: Nginx;
  let authority: Certificate;
  let certificate: Certificate;
  let visitor: Visitor;
  let machine: Machine;
  let ada: Person;
  let storage: { id: number; bucket: string };
  let s3: S3Client;
  let ports: { http: number; https: number };
  let origins: { app: string; content: string; s3: string };

  beforeAll(async () => {
    // The workers of nginx are another user.
    chmodSync(folder, 0o755);
    ports = { http: await freePort(), https: await freePort() };
    origins = {
      app: `https://stagi.test:${ports.https}`,
      content: `https://content.stagi-content.test:${ports.https}`,
      s3: `https://s3.stagi.test:${ports.https}`,
    };
    platform = await spawnPlatform({
      APP_ORIGIN: origins.app,
      DAEMON_ORIGIN: origins.app,
      CONTENT_ORIGIN: origins.content,
      APPS_DOMAIN: `apps-stagi.test:${ports.https}`,
      S3_ORIGIN: origins.s3,
      S3_MACHINE_ORIGIN: origins.s3,
      TRUST_PROXY: '127.0.0.1',
      // Mails are read there.
      DEV_MAIL: 'on public',
      ALLOWED_HOSTS: 'localhost',
    });
    authority = makeAuthority(folder);
    certificate = makeCertificate(folder, authority, [
      ...['stagi.test', 'content.stagi-content.test', '*.apps-stagi.test', 's3.stagi.test', '*.s3.stagi.test'],
      'unknown.test',
    ]);
    nginx = await startNginx(folder, {
      'conf.d': {
        'stagi.conf': shipped('nginx/stagi.conf', [
          ['listen 80 ', `listen 127.0.0.1:${ports.http} `],
          ['listen [::]:80 ', `listen [::1]:${ports.http} `],
          ['listen 443 ', `listen 127.0.0.1:${ports.https} `],
          ['listen [::]:443 ', `listen [::1]:${ports.https} `],
          ['/var/www/acme', folder],
          ['/etc/nginx/stagi-tls/fullchain.pem', certificate.certificate],
          ['/etc/nginx/stagi-tls/privkey.pem', certificate.key],
        ]),
        'stagi-upstreams.conf': shipped('nginx/stagi-upstreams.conf', [
          ['127.0.0.1:4400', new URL(platform.url).host],
          ['127.0.0.1:4401', new URL(platform.s3Url).host],
        ]),
      },
      'modules-enabled': {
        '60-stagi-ssh.conf': shipped('nginx/stagi-ssh.conf', [
          // Another address of this machine, and the same port.
          ['203.0.113.10:4422', `127.0.0.2:${platform.gitSshPort}`],
          ['127.0.0.1:4422', `127.0.0.1:${platform.gitSshPort}`],
        ]),
      },
    });
    visitor = aVisitor(authority.certificate, ADDRESS);
    machine = aMachine();
    await within(async () => expect((await visitor.ask(`${origins.app}/readyz`)).status).toBe(200));
    ada = await signUp(mails(), visitor.send(origins.app), { name: 'Ada', email: 'ada@example.com' });
    const { entity } = await ada.client(api.storages.create, {
      title: 'Photos',
      slug: 'photos',
      sizeGb: 1,
      location: 'local',
    });
    await within(async () =>
      expect((await ada.client(api.storages.view, { id: entity.id })).entity.status).toBe('rented'),
    );
    storage = (await ada.client(api.storages.view, { id: entity.id })).entity;
    const { entity: key } = await ada.client(api.storages.createKey, {
      id: entity.id,
      title: 'laptop',
      mode: 'read-write',
    });
    s3 = new S3Client({
      endpoint: origins.s3,
      region: 'us-east-1',
      credentials: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey },
      // Buckets are hosts, as by default.
      forcePathStyle: false,
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler({ httpsAgent: visitor.agent }),
    });
  });
  afterAll(async () => {
    s3?.destroy();
    visitor?.agent.destroy();
    await nginx?.stop();
    machine?.remove();
    await platform?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('signs people up by the typed client, and tells the platform where they are', async () => {
    const { entities } = await ada.client(api.sessions.list, {});
    expect(entities.map(({ ip }) => ip)).toEqual([ADDRESS]);
  });

  it('passes WebSockets on', async () => {
    const { ticket } = await ada.client(api.auth.streamTicket, {});
    const socket = new WebSocket(`${origins.app.replace('https', 'wss')}${API_PREFIX}events?ticket=${ticket}`, {
      agent: visitor.agent,
      lookup: toThisMachine,
    });
    const message = once(socket, 'message');
    await once(socket, 'open');
    expect(JSON.parse(String((await message)[0]))).toHaveProperty('type');
    socket.close();
    await once(socket, 'close');
  });

  it('passes an upload to S3 on while it is being sent, and the object back', async () => {
    const body = randomBytes(LARGE);
    const command = new PutObjectCommand({ Bucket: storage.bucket, Key: 'large.bin' });
    const url = await getSignedUrl(s3, command);
    expect(new URL(url).host).toBe(`${storage.bucket}.${new URL(origins.s3).host}`);
    const upload = visitor.open(url, { method: 'PUT', headers: { 'content-length': LARGE } });
    upload.write(body.subarray(0, FIRST));
    await expect.poll(unfinishedBytes).toBeGreaterThan(FIRST / 2);
    console.log(
      `the platform had stored ${(unfinishedBytes() / MB).toFixed(1)} of ${FIRST / MB} MiB before the rest came`,
    );
    const answer = answerOf(upload);
    upload.end(body.subarray(FIRST));
    expect((await answer).status).toBe(200);
    const get = await getSignedUrl(s3, new GetObjectCommand({ Bucket: storage.bucket, Key: 'large.bin' }));
    const back = await visitor.ask(get, { headers: { 'accept-encoding': 'gzip' } });
    expect([back.status, back.headers['content-length']]).toEqual([200, String(LARGE)]);
    expect(sha256(back.body)).toBe(sha256(body));
  });

  it('leaves headers, types and odd keys of S3 as they are', async () => {
    const given = { Bucket: storage.bucket, Key: 'a//b/c d+e%2F.html' };
    const Metadata = { under_score: 'a', 'with.dot': 'b', plain: 'c' };
    const { ETag } = await s3.send(
      new PutObjectCommand({ ...given, Body: '<p>'.repeat(1_000), ContentType: 'text/html', Metadata }),
    );
    expect(await s3.send(new HeadObjectCommand(given))).toMatchObject({ ContentLength: 3_000, ETag, Metadata });
    const dots = { Bucket: storage.bucket, Key: 'a/../b/./c' };
    await s3.send(new PutObjectCommand({ ...dots, Body: 'dots' }));
    expect(await s3.send(new HeadObjectCommand(dots))).toMatchObject({ ContentLength: 4 });
    const get = await getSignedUrl(s3, new GetObjectCommand(given));
    const { status, headers } = await visitor.ask(get, { headers: { 'accept-encoding': 'gzip' } });
    expect({ status, length: headers['content-length'], etag: headers.etag }).toEqual({
      status: 200,
      length: '3000',
      etag: ETag,
    });
  });

  it('takes an upload over HTTP/2', async () => {
    const url = new URL(await getSignedUrl(s3, new PutObjectCommand({ Bucket: storage.bucket, Key: 'two.bin' })));
    const { ca, lookup } = visitor.agent.options;
    const session = connectHttp2(url.origin, { ca, lookup });
    try {
      const body = randomBytes(5 * MB);
      const stream = session.request({
        ':method': 'PUT',
        ':path': url.pathname + url.search,
        'content-length': body.length,
      });
      stream.end(body);
      const [headers] = await once(stream, 'response');
      expect(headers[':status']).toBe(200);
      const { ContentLength } = await s3.send(new HeadObjectCommand({ Bucket: storage.bucket, Key: 'two.bin' }));
      expect(ContentLength).toBe(body.length);
    } finally {
      session.close();
    }
  });

  it('shows a shared object at the content host', async () => {
    await s3.send(new PutObjectCommand({ Bucket: storage.bucket, Key: 'words.txt', Body: 'shared' }));
    const { entity } = await ada.client(api.sharing.createShareLink, { id: storage.id, key: 'words.txt' });
    expect(new URL(entity.link).origin).toBe(origins.content);
    const { status, body } = await visitor.ask(entity.link);
    expect([status, body.toString()]).toEqual([200, 'shared']);
  });

  it('takes a push over HTTP, and shows the banner of git over SSH', async () => {
    const { entity: project } = await ada.client(api.projects.create, { title: 'Compilers', slug: 'compilers' });
    await expect
      .poll(async () => (await ada.client(api.projects.view, { id: project.id })).entity.status)
      .toBe('active');
    await ada.client(api.secondFactor.stepUpBegin, {});
    await ada.client(api.secondFactor.stepUp, { code: await mailedCode(mails(), ada.email) });
    const { token } = await ada.client(api.apiTokens.create, { description: 'laptop' });
    const path = `git/${ada.workspaceId}/compilers.git`;
    const url = `${origins.app.replace('://', `://git:${token}@`)}/${path}`;
    const folderOf = await machine.repository('compilers', url);
    await machine.ok(['config', 'http.sslCAInfo', authority.certificate], { cwd: folderOf });
    await machine.ok(['config', 'http.curloptResolve', `stagi.test:${ports.https}:127.0.0.1`], { cwd: folderOf });
    const sha = await machine.commit(folderOf, 'weights.bin', randomBytes(5 * MB));
    await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folderOf });
    expect(await machine.ok(['ls-remote', 'origin', 'main'], { cwd: folderOf })).toContain(sha);
    const ssh = connect(platform.gitSshPort, '127.0.0.2');
    expect(String((await once(ssh, 'data'))[0])).toMatch(/^SSH-2\.0-stagi/);
    ssh.destroy();
  });

  it('leads names to whom they belong', async () => {
    const { status, body } = await visitor.ask(`https://unknown.test:${ports.https}/`);
    expect([status, body.toString()]).toEqual([421, expect.stringContaining('unknown.test')]);
    const port = await visitor.ask(`https://x-8080.apps-stagi.test:${ports.https}/`, {
      headers: { accept: 'application/json' },
    });
    expect(port.status).toBe(401);
    const bucket = await visitor.ask(`${origins.s3}/`);
    expect([bucket.status, bucket.headers['content-type']]).toEqual([403, 'application/xml']);
    expect((await visitor.ask(`${origins.app}/`)).headers.server).toBe('nginx');
  });

  it('is not told another host or address by a visitor', async () => {
    const input = { email: ada.email, password: PASSWORD };
    const { status } = await visitor.ask(`${origins.app}${API_PREFIX}${api.auth.authentication.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.7' },
      body: JSON.stringify(input),
    });
    expect(status).toBe(200);
    const { entities } = await ada.client(api.sessions.list, {});
    expect(entities.map(({ ip }) => ip)).toEqual([ADDRESS, ADDRESS]);
    // The content host has no such page.
    const asked = (headers: Record<string, string>) =>
      visitor.ask(`${origins.app}/configuration.json`, { headers, servername: 'stagi.test' });
    const content = new URL(origins.content).host;
    expect((await asked({ host: content })).status).toBe(404);
    expect((await asked({ host: 'localhost', 'x-forwarded-host': content })).status).toBe(200);
  });

  it('sends plain HTTP to HTTPS, but for the proof of a name', async () => {
    const plain = `http://127.0.0.1:${ports.http}`;
    const moved = await fetch(`${plain}/a?b=c`, { redirect: 'manual', headers: { host: 'stagi.test' } });
    expect([moved.status, moved.headers.get('location')]).toEqual([301, 'https://127.0.0.1/a?b=c']);
    const proof = join(folder, '.well-known/acme-challenge');
    mkdirSync(proof, { recursive: true });
    writeFileSync(join(proof, 'token'), 'proof');
    expect(await (await fetch(`${plain}/.well-known/acme-challenge/token`)).text()).toBe('proof');
  });

  it('answers 503 at once while the platform is away, and serves again after it', async () => {
    expect(await platform.stop()).toBe(0);
    for (const origin of Object.values(origins)) {
      const start = performance.now();
      const { status, headers, body } = await visitor.ask(`${origin}/anything`);
      expect([status, headers['retry-after'], body.toString()]).toEqual([
        503,
        '5',
        'Stagi does not answer at the moment. Please try again soon.\n',
      ]);
      expect(performance.now() - start).toBeLessThan(5_000);
    }
    await platform.start();
    expect((await visitor.ask(`${origins.app}/readyz`)).status).toBe(200);
    expect(nginx.log()).not.toMatch(/\[(emerg|alert|crit)\]/);
  });

  /** Codes are read from the platform itself, as nobody else may see them. */
  const mails = () => `http://localhost:${new URL(platform.url).port}`;

  /** Bytes of uploads that have not ended yet. */
  function unfinishedBytes(): number {
    const unfinished = join(platform.dataDir, 's3/.unfinished');
    if (!existsSync(unfinished)) return 0;
    return readdirSync(unfinished, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + sizeOf(join(parentPath, name)), 0);
  }

  /** 0 of a file that has been renamed meanwhile. */
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
});
