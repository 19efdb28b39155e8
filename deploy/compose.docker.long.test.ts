import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { api } from '@stagi/contract/api.ts';
import { createClient, type Tokens } from '@stagi/contract/apiClient.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { makeAuthority, makeCertificate } from '@stagi/server/src/testing/certificates.ts';
import { completeSignupForm, PASSWORD, type Person, tokensOf } from '@stagi/server/src/testing/person.ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import {
  copyWorkingTree,
  docker,
  ensureDebian,
  LABEL,
  makeBuildImage,
  makeServiceImage,
  withoutImages,
} from './testing/images.ts';
import { aVisitor, type Visitor } from './testing/visitor.ts';

const run = promisify(execFile);
const PROJECT = `stagi-test-${randomBytes(4).toString('hex')}`;
const [BUILD, PLATFORM, SERVICES] = [`${PROJECT}-build`, `${PROJECT}-platform`, `${PROJECT}-services`];
/** In a file that no image may have. */
const CANARY = 'canary-of-a-secret';
const WHO = { name: 'Ada', email: 'ada@example.com' };
const within = (condition: () => Promise<unknown>) => vi.waitFor(condition, { timeout: 120_000, interval: 200 });
const reason = withoutImages();
if (reason) console.log(`Skipped: ${reason}`);

interface Service {
  image?: string;
  build?: unknown;
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  ports?: unknown[];
  volumes?: string[];
  profiles?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
}
interface Compose {
  services: Record<string, Service>;
}

/** The image of the Dockerfile, run as compose.yaml says, with images made here in place of those of a registry. */
describe.skipIf(reason)('compose', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-compose-'));
  const context = join(folder, 'context');
  const place = join(context, 'deploy/docker');
  let visitor: Visitor;
  let ada: Person;
  let storage: { id: number; bucket: string };
  let s3: S3Client;
  let ports: { https: number; ssh: number };
  let origin: string;

  beforeAll(async () => {
    mkdirSync(context);
    await copyWorkingTree(context);
    await run('git', ['init', '-q', context]);
    ports = { https: await freePort(), ssh: await freePort() };
    origin = `https://stagi.test:${ports.https}`;
    const certificates = join(place, 'certificates');
    for (const made of [certificates, join(place, 'acme'), join(context, '.data')]) mkdirSync(made);
    const authority = makeAuthority(folder);
    const { key } = makeCertificate(certificates, authority, ['stagi.test', 's3.stagi.test', '*.s3.stagi.test']);
    // As it lies there when somebody other than root has made it.
    chmodSync(key, 0o600);
    await run('chown', ['-R', '1000:1000', certificates]);
    visitor = aVisitor(authority.certificate, '127.0.0.1');
    for (const secret of ['stagi.env', '.data/secret.key']) writeFileSync(join(context, secret), CANARY);
    writeFileSync(join(place, '.env'), `POSTGRES_PASSWORD=${randomBytes(24).toString('hex')}\n`);
    const settings = {
      APP_ORIGIN: origin,
      DAEMON_ORIGIN: origin,
      CONTENT_ORIGIN: `https://content.stagi-content.test:${ports.https}`,
      APPS_DOMAIN: `apps-stagi.test:${ports.https}`,
      S3_ORIGIN: `https://s3.stagi.test:${ports.https}`,
      S3_MACHINE_ORIGIN: `https://s3.stagi.test:${ports.https}`,
      // Mails are read within the container.
      SMTP_URL: '',
      DEV_MAIL: 'on public',
      ALLOWED_HOSTS: 'localhost',
    };
    copyFileSync(join(place, 'stagi.env.example'), join(place, 'stagi.env'));
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(place, 'stagi.env'), lines.join(''), { flag: 'a' });

    await Promise.all([makeBuildImage(BUILD), makeServiceImage(SERVICES)]);
    const bases = ['--build-arg', `BUILD_IMAGE=${BUILD}`, '--build-arg', `BASE_IMAGE=${await ensureDebian()}`];
    const file = join(place, 'Dockerfile');
    const start = performance.now();
    await docker('build', '--network', 'host', ...bases, '--label', LABEL, '-f', file, '-t', PLATFORM, context);
    const seconds = (performance.now() - start) / 1000;
    const size = Number(await docker('image', 'inspect', '--format', '{{.Size}}', PLATFORM));
    console.log(`the image has ${(size / 1e6).toFixed(0)} MB and took ${seconds.toFixed(0)} s`);
    await render('one.json', 'compose.yaml');
    await render('roles.json', 'compose.yaml', 'compose.roles.yaml');
  }, 1_800_000);
  afterAll(async () => {
    s3?.destroy();
    visitor?.agent.destroy();
    const ofProject = ['--filter', `label=com.docker.compose.project=${PROJECT}`];
    await removeAll(['rm', '-f', '-v'], await docker('ps', '-aq', ...ofProject));
    await removeAll(['volume', 'rm', '-f'], await docker('volume', 'ls', '-q', ...ofProject));
    await removeAll(['network', 'rm'], await docker('network', 'ls', '-q', ...ofProject));
    // Layers without a name are those of the stage that builds.
    const built = await docker('images', '-q', '--no-trunc', '--filter', `label=${LABEL}`);
    await removeAll(['rmi', '-f'], built);
    rmSync(folder, { recursive: true, force: true });
  }, 300_000);

  it('is rendered with nothing published but nginx, and nothing that may write or gain rights', async () => {
    const { services } = await rendered('compose.yaml', 'compose.roles.yaml');
    expect(Object.keys(services).sort()).toEqual(['nginx', 'operator', 'postgres', 's3', 'stagi', 'worker']);
    for (const [name, service] of Object.entries(services)) {
      expect.soft(service.cap_drop, name).toEqual(['ALL']);
      expect.soft(service.security_opt, name).toEqual(['no-new-privileges:true']);
      if (name !== 'postgres') expect.soft(service.read_only, name).toBe(true);
      expect.soft(service.ports?.length ?? 0, name).toBe(name === 'nginx' ? 3 : 0);
    }
    expect(services.stagi?.environment).toMatchObject({
      APP_ORIGIN: origin,
      TRUST_PROXY: '172.30.44.2',
      DATABASE_URL: expect.stringMatching(/^postgres:\/\/stagi:[0-9a-f]{48}@postgres\/stagi$/),
    });
  });

  it('has an image without secrets, tests and rights', async () => {
    const inspected = JSON.parse(await docker('image', 'inspect', PLATFORM))[0] as { Config: { User: string } };
    expect(inspected.Config.User).toBe('stagi');
    const history = await docker('history', '--no-trunc', PLATFORM);
    expect(history + JSON.stringify(inspected)).not.toMatch(/NODE_EXTRA_CA_CERTS|npm_config|canary/);
    const found = await docker(
      ...['run', '--rm', '--label', LABEL, '--user', '0', '--entrypoint', 'sh', PLATFORM, '-c'],
      `find / -xdev \\( -name .git -o -name .data -o -name '*.env' -o -name '.npmrc' \\) -print
       find /opt/stagi -name node_modules -prune -o -name '*.test.ts' -print
       find /opt/stagi -perm /022 ! -type l -print; find /opt/stagi ! -user root -print
       grep -rl ${CANARY} /opt /etc /var /root; command -v npm || true`,
    ).catch(({ stdout }: { stdout: string }) => stdout);
    expect(found).toBe('');
  });

  it('comes up behind nginx, where people sign up and store objects', { timeout: 400_000 }, async () => {
    await compose('one.json', 'up', '-d');
    await ready();
    ada = await signUp();
    const { entities } = await ada.client(api.sessions.list, {});
    // The gateway of the network, by which this machine reaches what is published.
    expect(entities.map(({ ip }) => ip)).toEqual(['172.30.44.1']);
    const input = { title: 'Photos', slug: 'photos', sizeGb: 1, location: 'local' };
    const { id } = (await ada.client(api.storages.create, input)).entity;
    await within(async () => expect((await ada.client(api.storages.view, { id })).entity.status).toBe('rented'));
    storage = (await ada.client(api.storages.view, { id })).entity;
    const { entity: key } = await ada.client(api.storages.createKey, { id, title: 'k', mode: 'read-write' });
    s3 = new S3Client({
      endpoint: `https://s3.stagi.test:${ports.https}`,
      region: 'us-east-1',
      credentials: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey },
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler({ httpsAgent: visitor.agent }),
    });
    await s3.send(new PutObjectCommand({ Bucket: storage.bucket, Key: 'a', Body: 'kept' }));
    const ssh = connect(ports.ssh, '127.0.0.1');
    expect(String((await once(ssh, 'data'))[0])).toMatch(/^SSH-2\.0-stagi/);
    ssh.destroy();
  });

  it('runs as nobody who may write outside the volume', async () => {
    const id = await container('stagi');
    expect(await docker('exec', id, 'id', '-u')).toBe('10001\n');
    const status = await docker('exec', id, 'sh', '-c', 'cat /proc/[0-9]*/status');
    const rights = status.match(/^(Uid|Cap(Prm|Eff|Bnd)|NoNewPrivs):.*$/gm)!;
    expect([...new Set(rights)].sort()).toEqual([
      ...['Bnd', 'Eff', 'Prm'].map((set) => `Cap${set}:\t0000000000000000`),
      'NoNewPrivs:\t1',
      'Uid:\t10001\t10001\t10001\t10001',
    ]);
    await expect(docker('exec', id, 'touch', '/opt/stagi/x')).rejects.toThrow('Read-only file system');
    expect(await docker('diff', id)).toBe('');
    expect(
      await docker('ps', '--filter', `label=com.docker.compose.project=${PROJECT}`, '--format', '{{.Ports}}'),
    ).toMatch(new RegExp(`127.0.0.1:${ports.https}->443`));
  });

  it('runs the commands of operators beside the platform and within it', async () => {
    expect(await compose('one.json', 'run', '--rm', '-T', 'operator', 'make', WHO.email)).toContain(WHO.email);
    const id = await container('stagi');
    expect(await docker('exec', id, 'entrypoint.sh', 'ledger', 'verify')).toContain('0 problems');
    expect(await docker('exec', id, 'entrypoint.sh', 'migrate')).toContain('Database up to date');
    // The names of this test lead nowhere within the container, so it ends with 1.
    const check = docker('exec', id, 'entrypoint.sh', 'operator', 'check');
    const { stdout } = await check.then(
      () => expect.unreachable('should have found the names without addresses'),
      (error: { stdout: string }) => error,
    );
    for (const line of [
      /^ {4}TRUST_PROXY = 172\.30\.44\.2$/m,
      /^✓ Database +PostgreSQL 15\S* .*, database stagi, user stagi$/m,
      /^✓ Platform +runs$/m,
      /^✓ S3_INTERNAL_ORIGIN +http:\/\/127\.0\.0\.1:4401/m,
      /^✗ APP_ORIGIN +the name stagi\.test has no address/m,
    ])
      expect(stdout).toMatch(line);
  });

  it('ends in order, and the next start finds the data', { timeout: 400_000 }, async () => {
    const id = await container('stagi');
    const start = performance.now();
    await docker('stop', '-t', '30', id);
    const seconds = (performance.now() - start) / 1000;
    expect(await docker('inspect', '--format', '{{.State.ExitCode}} {{.State.OOMKilled}}', id)).toBe('0 false\n');
    expect(await docker('logs', id)).not.toMatch(/did not stop in time|"level":(50|60)/);
    console.log(`stopped after ${seconds.toFixed(1)} s`);
    await compose('one.json', 'up', '-d', '--force-recreate', '--no-deps', 'stagi');
    await ready();
    await signIn();
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: storage.bucket, Key: 'a' }));
    expect(await Body?.transformToString()).toBe('kept');
  });

  it('divides the roles by its other file', { timeout: 400_000 }, async () => {
    await compose('roles.json', '--profile', 'roles', 'up', '-d');
    await ready();
    await signIn();
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: storage.bucket, Key: 'a' }));
    expect(await Body?.transformToString()).toBe('kept');
    await within(async () => expect(await healthOf('s3')).toBe('healthy'));
    // Only the worker carries this out.
    const { id } = (
      await ada.client(api.storages.create, { title: 'More', slug: 'more', sizeGb: 1, location: 'local' })
    ).entity;
    await within(async () => expect((await ada.client(api.storages.view, { id })).entity.status).toBe('rented'));
    const logs = await Promise.all(
      ['stagi', 'worker', 's3'].map(async (name) => docker('logs', await container(name))),
    );
    for (const log of logs) expect(log).not.toMatch(/"level":(50|60)/);
  });

  it('runs alone on a PostgreSQL of its own, as deploy/README.md says', { timeout: 400_000 }, async () => {
    const name = `${PROJECT}-alone`;
    const ofProject = ['--label', `com.docker.compose.project=${PROJECT}`];
    await docker('volume', 'create', ...ofProject, name);
    const rights = ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
    await docker('run', '-d', '--name', name, ...ofProject, ...rights, '-v', `${name}:/var/lib/stagi`, PLATFORM);
    const health = () => docker('inspect', '--format', '{{.State.Health.Status}}', name);
    for (let n = 0; n < 2; n += 1) {
      await within(async () => expect(await health()).toBe('healthy\n'));
      expect(await docker('exec', name, 'entrypoint.sh', 'ledger', 'verify')).toContain('0 problems');
      expect(await docker('diff', name)).toBe('');
      await docker('stop', '-t', '30', name);
      expect(await docker('inspect', '--format', '{{.State.ExitCode}}', name)).toBe('0\n');
      if (n === 0) await docker('start', name);
    }
    expect((await docker('logs', name)).match(/creating the database/g)).toHaveLength(1);
    console.log('n = 2 starts');
  });

  async function rendered(...files: string[]): Promise<Compose> {
    const named = files.flatMap((file) => ['-f', file]);
    const profiles = ['--profile', 'tools', '--profile', 'roles'];
    const env = { ...process.env, S3_INTERNAL_ORIGIN: files.length > 1 ? 'http://172.30.44.11:4401' : '' };
    const { stdout } = await run('docker-compose', [...named, ...profiles, 'config'], { cwd: place, env });
    return parse(stdout) as Compose;
  }

  /** The files of compose as it understands them, with the images and ports of this test. */
  async function render(name: string, ...files: string[]): Promise<void> {
    const known = await rendered(...files);
    for (const service of Object.values(known.services)) {
      delete service.build;
      service.image = PLATFORM;
    }
    const { nginx, postgres } = known.services as { nginx: Service; postgres: Service };
    Object.assign(postgres, { image: SERVICES, entrypoint: ['postgres.sh'] });
    Object.assign(nginx, {
      image: SERVICES,
      // Debian has this module in a file of its own.
      entrypoint: ['nginx', '-g', 'load_module modules/ngx_stream_module.so; daemon off;'],
      ports: [`127.0.0.1:${ports.https}:443`, `127.0.0.1:${ports.ssh}:4422`],
    });
    writeFileSync(join(folder, name), JSON.stringify(known));
  }

  async function compose(file: string, ...args: string[]): Promise<string> {
    const { stdout } = await run('docker-compose', ['-p', PROJECT, '-f', join(folder, file), ...args], {
      cwd: folder,
      maxBuffer: 64e6,
    });
    return stdout;
  }

  async function container(service: string): Promise<string> {
    const labels = [`com.docker.compose.project=${PROJECT}`, `com.docker.compose.service=${service}`];
    const filters = labels.flatMap((label) => ['--filter', `label=${label}`]);
    return (await docker('ps', '-aq', '--no-trunc', ...filters)).trim();
  }

  const healthOf = async (service: string) =>
    (await docker('inspect', '--format', '{{.State.Health.Status}}', await container(service))).trim();

  async function ready(): Promise<void> {
    await within(async () => expect((await visitor.ask(`${origin}/readyz`)).status).toBe(200));
    await within(async () => expect(await healthOf('stagi')).toBe('healthy'));
  }

  async function signUp(): Promise<Person> {
    const send = visitor.send(origin);
    const stranger = createClient({ send, session: { get: () => null, set: () => {} }, clientId: () => null });
    const { flow } = await stranger(api.auth.register, { ...WHO, password: PASSWORD });
    const script = `fetch('http://localhost:4400/dev/mail/list', { method: 'POST' }).then((r) => r.text()).then(console.log)`;
    const mails = await docker('exec', await container('stagi'), 'node', '-e', script);
    const code = /\d{8}/.exec((JSON.parse(mails) as { mails: { subject: string }[] }).mails[0]!.subject)![0];
    return completeSignupForm(send, await stranger(api.auth.verifyCode, { email: WHO.email, code, flow }), WHO);
  }

  async function signIn(): Promise<Tokens> {
    const session = { get: () => null, set: () => {} };
    const stranger = createClient({ send: visitor.send(origin), session, clientId: () => null });
    return tokensOf(await stranger(api.auth.authentication, { email: WHO.email, password: PASSWORD }));
  }

  async function removeAll(command: string[], ids: string): Promise<void> {
    const all = [...new Set(ids.split('\n').filter(Boolean))];
    if (all.length > 0) await docker(...command, ...all);
  }
});
