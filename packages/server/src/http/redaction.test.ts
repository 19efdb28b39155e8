import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import pg from 'pg';
import { expect, it } from 'vitest';
import { freePort } from '../testing/app.ts';
import { aDaemonIn } from '../testing/cloudApp.ts';
import { connectDaemon, enrolNode, postEnrolment } from '../testing/daemon.ts';
import { createTestDatabase } from '../testing/database.ts';
import { PASSWORD, sender, signUp } from '../testing/person.ts';

const MAIN = join(import.meta.dirname, '../main.ts');
const ENV_VALUE = 'canary-env-7d1f0c';
const START_MS = 20_000;

it('no secret stands in the log, in the database or in an error', { timeout: 60_000 }, async () => {
  const database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'stagi-redaction-'));
  const port = await freePort();
  const platform = spawn(process.execPath, [MAIN], {
    env: {
      ...process.env,
      ...aDaemonIn(folder),
      PORT: String(port),
      METRICS_PORT: 'off',
      DATABASE_URL: database.url,
      STAGI_DATA: join(folder, 'data'),
      LOCAL_CLOUD: 'off',
      LOG_LEVEL: 'trace',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const out of [platform.stdout, platform.stderr]) {
    out.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const url = `http://localhost:${port}`;
  try {
    await expect.poll(() => isReady(url), { timeout: START_MS }).toBe(true);
    const alice = await signUp(url, sender(url), { name: 'Alice', email: 'alice@example.com' });
    const first = alice.tokens();
    const { ticket } = await alice.client(api.auth.streamTicket, {});
    const { privateKey } = await alice.client(api.sshKeys.generate, { title: 'laptop' });
    const { entity: server, daemonToken } = await alice.client(api.selfHosted.create, { title: 'Own', slug: 'own' });
    const daemon = await connectDaemon(url, await enrolNode(url, daemonToken));
    await expect
      .poll(async () => (await alice.client(api.selfHosted.view, { id: server.id })).entity.status)
      .toBe('online');
    await alice.client(api.containers.create, {
      instanceRef: { id: server.id },
      title: 'Job',
      slug: 'job',
      dockerImage: 'busybox',
      cpus: 0.1,
      env: [{ name: 'SECRET', value: ENV_VALUE }],
    });
    await daemon.desired(({ containers }) => containers.length === 1);

    const bearer = { authorization: `Bearer ${first.accessToken}`, 'x-client-id': String(alice.workspaceId) };
    const errors: string[] = [];
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
    await sender(url)('auth/exchange-refresh-token', { refreshToken: first.refreshToken }, { headers: {} });
    await daemon.close();
    const rows = await everyRow(database.url);
    // What fails inside is what is logged most.
    await execute(database.url, 'alter table pending_registration rename to a; alter table ssh_key rename to b');
    await execute(database.url, 'alter table app_user rename to c');
    await refusedBody(call('auth/email/register'), { name: 'A', email: 'b@example.com', password: PASSWORD }, {});
    await refusedBody(call('auth/email/authentication'), { email: alice.email, password: PASSWORD }, {});
    await refusedBody(call('auth/exchange-refresh-token'), { refreshToken: first.refreshToken }, {});
    await refusedBody(
      call('ssh-key/add'),
      { title: 'k', publicKey: privateKey },
      { ...bearer, 'idempotency-key': '3' },
    );
    platform.kill('SIGTERM');
    await once(platform, 'close');
    expect(log).toContain('call failed');

    const canaries: Record<string, string> = {
      password: PASSWORD,
      'access token': signatureOf(first.accessToken),
      'refresh token': first.refreshToken,
      'stream ticket': ticket,
      'enrolment token': signatureOf(daemonToken),
      'private key': privateKey.split('\n')[2]!,
      'environment value': ENV_VALUE,
    };
    for (const [name, canary] of Object.entries(canaries)) {
      expect(canary.length, name).toBeGreaterThan(10);
      // Bytes are shown as hexadecimal digits in a row's text.
      for (const form of [canary, Buffer.from(canary).toString('hex'), Buffer.from(canary).toString('base64')]) {
        expect(log.includes(form), `${name} in the log`).toBe(false);
        expect(
          rows.filter(({ text }) => text.includes(form)).map(({ table }) => table),
          name,
        ).toEqual([]);
        expect(
          errors.filter((body) => body.includes(form)),
          name,
        ).toEqual([]);
      }
    }
    expect(log).toContain('serving');
    expect(rows.some(({ text }) => text.includes('alice@example.com'))).toBe(true);
    const lines = log.trim().split('\n').length;
    console.log(
      `canaries: n = ${Object.keys(canaries).length}, in ${lines} log lines, ${rows.length} rows, ${errors.length} errors: 0 hits`,
    );
  } finally {
    if (platform.exitCode === null && platform.signalCode === null) {
      platform.kill('SIGKILL');
      await once(platform, 'exit');
    }
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  }
});

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    // It does not listen yet.
    return false;
  }
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
