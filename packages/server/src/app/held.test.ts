import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api, everyCall } from '@stagi/contract/api.ts';
import { type Client, createClient, type Tokens } from '@stagi/contract/apiClient.ts';
import { isReadOnly } from '@stagi/contract/audit.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { HELD } from '@stagi/contract/errors.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../config/config.ts';
import { hashOf } from '../identities/testing/authorizationRequests.ts';
import { type Running, start } from '../start.ts';
import { createTestDatabase } from '../testing/database.ts';
import { type IdentityProviderServer, startIdentityProvider } from '../testing/identityProvider.ts';
import { httpSender, PASSWORD, type Person, tokensOf } from '../testing/person.ts';
import { refusal } from '../testing/refusal.ts';
import { signUpDirectly } from '../testing/signUpDirectly.ts';
import { type Smtp, startSmtp } from '../testing/smtp.ts';
import { isAnsweredWhileHeld } from './held.ts';
import { ask } from './testing/rawHosts.ts';
import { DAEMON, gets, STREAMS, type Surface } from './testing/surfaces.ts';

const BACKUP = '2026-11-25T03:00:00.000Z';
const TERMINALS = STREAMS.filter(([, path]) => path.includes('/terminal'));

let port: number;
let s3Port: number;
let gitSshPort: number;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let folder: string;
let smtp: Smtp;
let identities: IdentityProviderServer;
let cloud: Server;
let docker: Server;
const askedOfCloud: string[] = [];

let running: Running | null = null;
let alice: Person;
let projectId: number;
let before: unknown;

beforeAll(async () => {
  [port, s3Port, gitSshPort] = [await freePort(), await freePort(), await freePort()];
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'stagi-held-'));
  mkdirSync(join(folder, 'web'));
  writeFileSync(join(folder, 'web/index.html'), '<!doctype html><title>Stagi</title>');
  smtp = await startSmtp('mailer', 'pass');
  identities = await startIdentityProvider();
  identities.open(`http://localhost:${port}`);
  identities.accounts.set('grace', { id: 1, email: 'grace@example.com', name: 'Grace' });
  identities.accounts.set('alice', { id: 2, email: 'alice@example.com', name: 'Alice' });
  identities.accounts.set('eve', { id: 3, email: 'eve@example.com', name: 'Eve' });
  cloud = noteRequests().listen(0, '127.0.0.1');
  docker = noteRequests().listen(join(folder, 'docker.sock'));
  await Promise.all([once(cloud, 'listening'), once(docker, 'listening')]);

  // Without workers: the project stays to be made, and the mail to be sent.
  await startPlatform('api');
  alice = await signUpDirectly(running!.ctx, httpSender(url()), { name: 'Alice', email: 'alice@example.com' });
  projectId = (await alice.client(api.projects.create, { title: 'Words', slug: 'words' })).entity.id;
  await signInWithGoogle('grace');
  await anonymous()(api.auth.register, { name: 'Bob', email: 'bob@example.com', password: PASSWORD });
  before = await readings();
  await stopPlatform();
  await query(`update installation set restored_from = '${BACKUP}', held_at = now()`);
});

afterAll(async () => {
  await stopPlatform();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
  await smtp?.close();
  await identities?.close();
  for (const server of [cloud, docker]) {
    server?.closeAllConnections();
    server?.close();
  }
});

/** A cloud, or Docker, that is asked and does nothing. */
const noteRequests = (): Server =>
  createServer((request, response) => {
    askedOfCloud.push(`${request.method} ${request.url}`);
    response.writeHead(503).end();
  });

const url = () => `http://127.0.0.1:${port}`;

async function startPlatform(roles = 'api,worker,s3'): Promise<void> {
  const settings = {
    PORT: String(port),
    METRICS_PORT: 'off',
    S3_PORT: String(s3Port),
    GIT_SSH_PORT: String(gitSshPort),
    DATABASE_URL: database.url,
    STAGI_DATA: join(folder, 'data'),
    STAGI_WEB_DIR: join(folder, 'web'),
    LOCAL_CLOUD: 'on',
    DOCKER_HOST: `unix://${join(folder, 'docker.sock')}`,
    FAKE_CLOUD_URL: `http://127.0.0.1:${(cloud.address() as { port: number }).port}`,
    STAGI_ENVIRONMENT: 'test',
    SMTP_URL: smtp.url,
    LOG_LEVEL: 'fatal',
    ALLOWED_HOSTS: '127.0.0.1',
    ...identities.env,
  };
  running = await start(readConfig(settings, [`--role=${roles}`]));
}

async function stopPlatform(): Promise<void> {
  await running?.stop();
  running = null;
}

async function query(statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

function anonymous(tokens: Tokens | null = null): Client {
  return createClient({
    send: httpSender(url()),
    session: { get: () => tokens, set: () => {} },
    clientId: () => null,
  });
}

async function signInWithGoogle(login: string): Promise<Client> {
  const { link, state, nonce } = await anonymous()(api.identities.googleLink, {});
  const token = hashOf(await identities.logIn(link, login)).get('id_token') ?? '';
  return anonymous(tokensOf(await anonymous()(api.identities.validateGoogle, { token, state, nonce })));
}

/** Calls of every kind: of the account, of its workspace, of things in it, public ones. */
async function readings(): Promise<unknown> {
  const { client } = alice;
  const { userProfile } = await client(api.user.profile, {});
  const { platformHeldSince: _, ...profile } = userProfile;
  return {
    profile,
    members: await client(api.clients.members, {}),
    project: await client(api.projects.view, { id: projectId }),
    balance: await client(api.billing.balance, {}),
    transactions: await client(api.transactions.list, {}),
    audit: await client(api.audit.list, {}),
    content: await anonymous()(api.content.list, { section: 'docs', language: 'en' }),
  };
}

const isListening = (at: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port: at, host: '127.0.0.1' });
    socket.once('connect', () => socket.destroy());
    socket.once('close', (hadError) => resolve(!hadError));
    socket.once('error', () => {});
  });

/** Starts the platform and counts the loops that it begins with: each begins by a timer. */
async function startAndCountLoops(): Promise<number> {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  try {
    await startPlatform();
    return new Set(timers.mock.calls.map(([work]) => work).filter(({ name }) => name === 'begin')).size;
  } finally {
    timers.mockRestore();
  }
}

describe('a platform that was restored and is held', () => {
  let loops: number;
  beforeAll(async () => {
    askedOfCloud.length = 0;
    loops = await startAndCountLoops();
  });

  it('answers what only reads, and says since when it is held', async () => {
    expect(running!.ctx.heldSince).toEqual(new Date(BACKUP));
    expect(await readings()).toEqual(before);
    const { userProfile } = await alice.client(api.user.profile, {});
    expect(userProfile.platformHeldSince).toBe(BACKUP);
    expect(await alice.client(api.hardware.offers, {})).toMatchObject({ entities: [], totalCount: 0 });
  });

  it('serves pages, files, health and the event stream', async () => {
    for (const path of [
      '/',
      '/cloud/instances',
      '/healthz',
      '/readyz',
      '/openapi.json',
      '/configuration.json',
      '/robots.txt',
    ]) {
      const { status } = await fetch(url() + path);
      expect.soft(status, path).toBe(200);
    }
    expect((await fetch(`${url()}${API_PREFIX}user/picture/${'x'.repeat(24)}`)).status).toBe(404);
    const { ticket } = await alice.client(api.auth.streamTicket, {});
    const events: Surface = ['WS', `${API_PREFIX}events?ticket=${ticket}`, '', 101];
    expect((await ask(port, events, ['Host: localhost:PORT'])).status).toBe(101);
  });

  it('lets people sign in, by password and by a connected account, stay and sign out', async () => {
    const { email } = alice;
    const tokens = tokensOf(await anonymous()(api.auth.authentication, { email, password: PASSWORD }));
    const next = await anonymous()(api.auth.exchangeRefreshToken, { refreshToken: tokens.refreshToken });
    expect((await anonymous(next)(api.user.profile, {})).userProfile.userId).toBe(alice.userId);
    await anonymous()(api.auth.logout, { refreshToken: next.refreshToken });
    const { userProfile } = await (await signInWithGoogle('grace'))(api.user.profile, {});
    expect(userProfile.email).toBe('grace@example.com');
    expect(await refusal(anonymous()(api.auth.authentication, { email, password: 'wrong' }))).toMatchObject({
      status: 400,
    });
  });

  it('makes no account by another provider, and connects none', async () => {
    for (const login of ['eve', 'alice'])
      expect(await refusal(signInWithGoogle(login))).toMatchObject({ status: 503, body: { code: 'held' } });
    expect(await query(`select 1 from app_user where email = 'eve@example.com'`)).toEqual([]);
  });

  it('refuses every call that does more than read or sign in', async () => {
    const refused = everyCall().filter((call) => !isAnsweredWhileHeld(call));
    for (const { path } of refused) {
      const { status, body, retryAfter } = await httpSender(url())(path, {}, { headers: authorization() });
      expect.soft({ path, status, body, retryAfter }).toMatchObject({
        status: 503,
        body: { isSuccess: false, code: 'held', message: HELD },
        retryAfter: 60,
      });
    }
    const paths = refused.map(({ path }) => path);
    const writing = everyCall().filter(({ path }) => !isReadOnly(path));
    expect(writing.filter(({ path }) => !paths.includes(path)).map(({ path }) => path)).toEqual([
      'auth/email/authentication',
      'auth/exchange-refresh-token',
      'logout',
      'auth/google-oauth/get-authentication-url',
      'auth/oauth/validate-code',
      'auth/github-oauth/get-authentication-url',
      'auth/github-oauth/validate-code',
      'auth/openid/get-authentication-url',
      'auth/openid/validate-code',
      'auth/step-up',
    ]);
    expect(paths).toEqual(
      expect.arrayContaining(['auth/email/register', 'auth/email/reset-password-code', 'model/run', 'project/create']),
    );
    console.log(`held: n = ${refused.length} of ${everyCall().length} calls refused`);
  });

  it('answers every other call', async () => {
    const answered = everyCall().filter(isAnsweredWhileHeld);
    for (const { path } of answered) {
      const { status, body } = await httpSender(url())(path, {}, { headers: authorization() });
      expect.soft(body, `${path}: ${status}`).not.toMatchObject({ code: 'held' });
    }
    expect(answered.length).toBeGreaterThan(100);
  });

  const authorization = () => ({
    authorization: `Bearer ${alice.tokens().accessToken}`,
    'x-client-id': String(alice.workspaceId),
    'idempotency-key': 'one',
  });

  it.each([
    ...TERMINALS,
    ...DAEMON,
    ...gets([
      '/daemon-api/install.sh',
      '/daemon-api/task/source',
      '/git/1/words.git/info/refs?service=git-upload-pack',
    ]),
    ['GET', '/git/1/words.git/info/refs?service=git-receive-pack', '', 0],
    ['POST', '/git/1/words.git/git-receive-pack', '{}', 0],
    ['POST', '/git/1/words.git/info/lfs/objects/batch', '{}', 0],
    ['PUT', `${API_PREFIX}docker-container/file/upload/x`, '{}', 0],
    ['POST', '/daemon-api/task/output/begin', '{}', 0],
    ['POST', '/oauth/token', '{}', 0],
    ['POST', '/oauth/revoke', '{}', 0],
    ['POST', `${API_PREFIX}user/%65dit`, '{}', 0],
    ['POST', `${API_PREFIX}user/edit?/list`, '{}', 0],
    ['POST', `${API_PREFIX}user/edit#/list`, '{}', 0],
  ] as Surface[])('refuses %s %s', async (...surface) => {
    const { status, text } = await ask(port, surface, ['Host: localhost:PORT']);
    expect(status).toBe(503);
    expect(text).toContain(HELD);
    expect(text).toMatch(/\r\nretry-after: 60\r\n/i);
  });

  it.each([
    ['GET', 'x-8080.apps.localhost:PORT', '/'],
    ['POST', 'x-8080.apps.localhost:PORT', `${API_PREFIX}user/profile`],
    ['WS', 'x-8080.apps.localhost:PORT', '/'],
    ['GET', 'content.localhost:PORT', `/share/${'x'.repeat(43)}/a`],
    ['GET', 'content.localhost:PORT', '/preview/x'],
    ['GET', 'content.localhost:PORT', '/zip/x'],
    ['GET', 'content.localhost:PORT', '/volume/x'],
  ])('refuses %s at %s%s', async (method, host, path) => {
    const { status, text } = await ask(port, [method, path, '', 0], [`Host: ${host}`]);
    expect(status).toBe(503);
    expect(text).toContain(HELD);
    expect(text).toMatch(/\r\nretry-after: 60\r\n/i);
  });

  it('says it on a page at the address of a port, and in words to git', async () => {
    const navigation = ['Host: x-8080.apps.localhost:PORT', 'Accept: text/html', 'Sec-Fetch-Mode: navigate'];
    const { text: page } = await ask(port, ['GET', '/', '', 0], [...navigation, 'Sec-Fetch-Dest: document']);
    expect(page).toContain('<h1>The platform is held</h1>');
    const { text } = await ask(port, gets(['/git/1/words.git/info/refs?service=git-upload-pack'])[0]!, [
      'Host: localhost:PORT',
    ]);
    expect(text).toMatch(new RegExp(`content-type: text/plain[\\s\\S]*\\r\\n\\r\\n${HELD}\\n$`));
  });

  it('shows files of code at the content host', async () => {
    const { status } = await ask(port, ['GET', '/code/x/y', '', 0], ['Host: content.localhost:PORT']);
    expect(status).toBe(404);
  });

  it('does nothing by itself: no loop, no job, no cloud, no mail, no other listener', async () => {
    // Those that look after transfers of git in progress: there are none.
    expect(loops).toBe(2);
    expect(await query('select name from pgboss.schedule')).toEqual([]);
    expect(await query(`select distinct state from pgboss.job where name = 'mail.send'`)).toEqual([
      { state: 'created' },
    ]);
    expect(await query('select status from project')).toEqual([{ status: 'creating' }]);
    expect(smtp.mails).toEqual([]);
    expect(askedOfCloud).toEqual([]);
    expect([await isListening(port), await isListening(s3Port), await isListening(gitSshPort)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('works as before once it is released and started again', async () => {
    await stopPlatform();
    await query('update installation set held_at = null');
    expect(await startAndCountLoops()).toBeGreaterThan(10);
    await expect
      .poll(async () => (await alice.client(api.projects.view, { id: projectId })).entity.status)
      .toBe('active');
    await expect.poll(() => smtp.mails.map(({ to }) => to)).toContain('bob@example.com');
    await alice.client(api.hardware.offers, {});
    expect(askedOfCloud).toEqual(expect.arrayContaining(['GET /v1/offers', 'GET /version']));
    expect([await isListening(s3Port), await isListening(gitSshPort)]).toEqual([true, true]);
    const { userProfile } = await alice.client(api.user.edit, { name: 'Alice B.' });
    expect(userProfile).toMatchObject({ name: 'Alice B.' });
    expect(userProfile.platformHeldSince).toBeUndefined();
    await signInWithGoogle('eve');
    const { rows } = await sql<{ schedules: number }>`select count(*)::int as schedules from pgboss.schedule`.execute(
      running!.ctx.db,
    );
    expect(rows[0]!.schedules).toBeGreaterThan(0);
  });
});
