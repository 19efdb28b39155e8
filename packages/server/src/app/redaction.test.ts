import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { createClient, type Tokens } from '@stagi/contract/apiClient.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { TASK_OUTPUT_LINKS_PATH } from '@stagi/contract/taskTransfer.ts';
import pg from 'pg';
import { expect, it } from 'vitest';
import type { Context } from '../context.ts';
import { startEmbeddedPostgres } from '../db/embedded.ts';
import { openPool } from '../db/pool.ts';
import { createSecretBox } from '../secrets/secretBox.ts';
import { anOpenRun, askSource, transferCall } from '../taskTransfer/testing/openRun.ts';
import { builtDaemonEnv } from '../testing/cloudApp.ts';
import { connectDaemon, enrolNode, postEnrolment } from '../testing/daemon.ts';
import { openEventStream } from '../testing/eventStream.ts';
import { httpSender, PASSWORD, type Person } from '../testing/person.ts';
import { type Platform, spawnPlatform } from '../testing/platform.ts';
import { startSmtp } from '../testing/smtp.ts';

const ENV_VALUE = 'canary-env-7d1f0c';
const SMTP_PASSWORD = 'canary-smtp-4be1a9';
const DATABASE_PASSWORD = 'canary-database-90f3';
const PATIENCE = { timeout: 60_000, interval: 50 };

it('no secret is in a log, an answer, an event, somebody else’s mail or the database', {
  timeout: 240_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-redaction-'));
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: quiet });
  const smtp = await startSmtp('mailer', SMTP_PASSWORD);
  const secretKey = randomBytes(32).toString('base64');
  // It trusts whoever reaches its socket; the address still names a password, as others' do.
  const databaseUrl = postgres.url.replace('stagi@', `stagi:${DATABASE_PASSWORD}@`);
  const platform = await spawnPlatform({
    ...builtDaemonEnv(folder),
    DATABASE_URL: databaseUrl,
    SMTP_URL: smtp.url,
    STAGI_SECRET_KEY: secretKey,
    LOG_LEVEL: 'trace',
  });
  const { url } = platform;
  try {
    let tokens: Tokens | null = null;
    let workspaceId: number | null = null;
    const client = createClient({
      send: httpSender(url),
      session: { get: () => tokens, set: (next) => (tokens = next) },
      clientId: () => workspaceId,
    });
    const email = 'alice@example.com';
    const { flow } = await client(api.auth.register, { name: 'Alice', email, password: PASSWORD });
    await expect.poll(() => smtp.mails.length, PATIENCE).toBe(1);
    const code = smtp.mails[0]!.text.match(/\b\d{8}\b/)![0];
    const unspent = await everyRow(postgres.url);
    tokens = await client(api.auth.verifyCode, { email, code, flow });
    const first: Tokens = tokens;
    workspaceId = (await client(api.user.profile, {})).userProfile.clientRelations[0]!.clientId;
    const followed = await client(api.auth.streamTicket, {});
    const events = await openEventStream(url, followed.ticket);
    const { ticket } = await client(api.auth.streamTicket, {});
    const { privateKey } = await client(api.sshKeys.generate, { title: 'laptop' });
    const { link } = await client(api.invites.create, { role: 'Guest' });
    const joinCode = link.slice(-43);
    await (await fetch(`${url}/join-client/${joinCode}`)).text();
    await client(api.invites.view, { code: joinCode });
    const { entity: server, daemonToken } = await client(api.selfHosted.create, { title: 'Own', slug: 'own' });
    const daemon = await connectDaemon(url, await enrolNode(url, daemonToken));
    await expect
      .poll(async () => (await client(api.selfHosted.view, { id: server.id })).entity.status, PATIENCE)
      .toBe('online');
    await client(api.containers.create, {
      instanceRef: { id: server.id },
      title: 'Job',
      slug: 'job',
      dockerImage: 'busybox',
      cpus: 0.1,
      env: [{ name: 'SECRET', value: ENV_VALUE }],
    });
    await daemon.desired(({ containers }) => containers.length === 1);
    const ofRun = await useRun(platform, postgres.url, secretKey, { workspaceId, instanceId: server.id });
    const answers = [
      await client(api.user.profile, {}),
      await client(api.sshKeys.list, {}),
      await client(api.selfHosted.list, {}),
      await client(api.selfHosted.activities, { id: server.id }),
      await client(api.containers.list, { instanceRef: { id: server.id } }),
      await client(api.containers.view, { slug: 'job' }),
    ].map((answer) => JSON.stringify(answer));
    await expect.poll(() => events.text(), PATIENCE).toContain('docker-container');

    const bearer = { authorization: `Bearer ${first.accessToken}`, 'x-client-id': String(workspaceId) };
    const errors: string[] = [...ofRun.answers];
    const refusedBody = async (path: string, body: unknown, headers: Record<string, string> = bearer) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: text,
      });
      const answer = await response.text();
      expect(answer, path).toContain('"isSuccess":false');
      errors.push(answer);
    };
    const call = (path: string): string => `${API_PREFIX}${path}`;
    await refusedBody(call('auth/email/authentication'), { email: 'nobody@example.com', password: PASSWORD }, {});
    await refusedBody(call('auth/email/register'), { name: 'A', email: PASSWORD, password: PASSWORD }, {});
    await refusedBody(call('auth/email/authentication'), `{"email":"a@example.com","password":"${PASSWORD}"`, {});
    await refusedBody(call('auth/exchange-refresh-token'), { refreshToken: `${first.refreshToken}x` }, {});
    await refusedBody(call('user/profile'), {}, { authorization: `Bearer ${first.accessToken}x` });
    await refusedBody(call('client/join'), { code: joinCode }, {});
    await refusedBody(call(`nothing?ticket=${ticket}&token=${first.accessToken}`), { secret: ENV_VALUE });
    await refusedBody(
      call('ssh-key/add'),
      { title: 'k', publicKey: privateKey },
      { ...bearer, 'idempotency-key': '1' },
    );
    await refusedBody(
      call('docker-container/create'),
      { slug: 'x', env: [{ name: '1=', value: ENV_VALUE }], dockerImage: ENV_VALUE.repeat(200) },
      { ...bearer, 'idempotency-key': '2' },
    );
    errors.push(JSON.stringify((await postEnrolment(url, daemonToken)).body));
    await httpSender(url)('auth/exchange-refresh-token', { refreshToken: first.refreshToken }, { headers: {} });
    await daemon.close();
    smtp.refuse();
    await refusedMail();
    const rows = [...unspent, ...(await everyRow(postgres.url))];
    // What fails inside is what is logged most.
    await execute(postgres.url, 'alter table pending_registration rename to a; alter table ssh_key rename to b');
    await execute(postgres.url, 'alter table app_user rename to c');
    await refusedBody(call('auth/email/register'), { name: 'A', email: 'b@example.com', password: PASSWORD }, {});
    await refusedBody(call('auth/email/authentication'), { email, password: PASSWORD }, {});
    await refusedBody(call('auth/exchange-refresh-token'), { refreshToken: first.refreshToken }, {});
    await refusedBody(
      call('ssh-key/add'),
      { title: 'k', publicKey: privateKey },
      { ...bearer, 'idempotency-key': '3' },
    );
    const metrics = await (await fetch(platform.metricsUrl)).text();
    await platform.stop();
    const log = platform.log();
    expect(log).toContain('call failed');
    expect(log).toContain('serving');
    expect(rows.some(({ text }) => text.includes(email))).toBe(true);

    const canaries: Record<string, string> = {
      password: PASSWORD,
      'mailed code': code,
      'access token': signatureOf(first.accessToken),
      'refresh token': first.refreshToken,
      'stream ticket': ticket,
      'stream ticket that was used': followed.ticket,
      'join link': joinCode,
      'enrolment token': signatureOf(daemonToken),
      // The secret itself may have a `_` in it.
      'token of a run': ofRun.token.split('_').slice(2).join('_'),
      'link of a run': ofRun.signature,
      'private key': privateKey.split('\n')[2]!,
      'environment value': ENV_VALUE,
      'SMTP password': SMTP_PASSWORD,
      'database password': DATABASE_PASSWORD,
      'secret key': secretKey,
    };
    const postgresLog = readFileSync(join(folder, 'postgres/postgres.log'), 'utf8');
    const surfaces: Record<string, readonly string[]> = {
      'the log': log.trim().split('\n'),
      'the log of the database': postgresLog.trim().split('\n'),
      'the database': rows.map(({ table, text }) => `${table}: ${text}`),
      'a refusal': errors,
      'an answer': answers,
      'the event stream': [events.text()],
      'the metrics': [metrics],
      'a mail': smtp.mails.map(({ text }) => text),
    };
    let looks = 0;
    for (const [name, canary] of Object.entries(canaries)) {
      expect(canary.length, name).toBeGreaterThanOrEqual(8);
      for (const [surface, texts] of Object.entries(surfaces)) {
        expect(texts.length, surface).toBeGreaterThan(0);
        if (name === 'mailed code' && surface === 'a mail') continue;
        const hits = texts.filter((text) => shows(text, canary));
        expect(
          hits.map((text) => text.slice(0, 300)),
          `${name} in ${surface}`,
        ).toEqual([]);
        looks += texts.length;
      }
    }
    const sizes = Object.entries(surfaces).map(([name, texts]) => `${texts.length} of ${name}`);
    console.log(`canaries: n = ${Object.keys(canaries).length} secrets, ${looks} looks (${sizes.join(', ')}): 0 hits`);
  } finally {
    await platform.remove();
    await smtp.close();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }

  /** A mail that cannot be sent says so in the log and in its row. */
  async function refusedMail(): Promise<void> {
    await httpSender(url)(
      'auth/email/register',
      { name: 'B', email: 'late@example.com', password: PASSWORD },
      { headers: {} },
    );
    await expect.poll(() => smtp.refused(), PATIENCE).toBeGreaterThan(0);
  }
});

/** Has links signed for the run of a task, uses one, and is refused in several ways. */
async function useRun(
  platform: Platform,
  databaseUrl: string,
  secretKey: string,
  { workspaceId, instanceId }: { workspaceId: number; instanceId: number },
): Promise<{ token: string; signature: string; answers: string[] }> {
  const pool = openPool(databaseUrl);
  try {
    const ctx = { db: pool.db, secrets: createSecretBox(Buffer.from(secretKey, 'base64')) } as Context;
    const { created_by: userId } = await pool.db
      .selectFrom('instance')
      .select('created_by')
      .where('id', '=', instanceId)
      .executeTakeFirstOrThrow();
    const owner = { workspaceId, userId } as Person;
    const { token } = await anOpenRun({ ctx }, owner, { instance_id: instanceId });
    const files = [{ path: 'model', sizeBytes: 1 }];
    const asked = await transferCall<{ links: { url: string }[] }>(platform, token, TASK_OUTPUT_LINKS_PATH, { files });
    const link = asked.body.links[0]!.url;
    const stored = await fetch(link, { method: 'PUT', body: 'x' });
    expect(stored.status).toBe(200);
    const refusals = [
      await askSource(platform, token),
      await askSource(platform, `${token}x`),
      await fetch(link),
      await fetch(`${link}x`, { method: 'PUT', body: 'x' }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([500, 401, 403, 403]);
    const answers = await Promise.all(refusals.map((answer) => answer.text()));
    return { token, signature: new URL(link).searchParams.get('X-Amz-Signature')!, answers };
  } finally {
    await pool.close();
  }
}

const quiet = { info: () => {}, warn: () => {} };

/** Whether a secret is in a text: as it is, or as bytes are shown. A code is only digits, and counts where it stands alone. */
function shows(text: string, secret: string): boolean {
  if (/^\d+$/.test(secret)) return new RegExp(`(?<![\\dA-Fa-f])${secret}(?![\\dA-Fa-f])`).test(text);
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString('hex'), bytes.toString('base64')].some((form) => text.includes(form));
}

const signatureOf = (token: string): string => token.split('.')[2] ?? '';

async function execute(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

/** What a dump would show. */
async function everyRow(url: string): Promise<{ table: string; text: string }[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    );
    const found = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(`select t::text as text from ${name} t`);
      found.push(...rows.map(({ text }) => ({ table: name, text })));
    }
    return found;
  } finally {
    await client.end();
  }
}
