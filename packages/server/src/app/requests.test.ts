import { api } from '@stagi/contract/api.ts';
import { API_PREFIX, BODY_LIMIT } from '@stagi/contract/call.ts';
import { STREAM_CLOSE } from '@stagi/contract/streams.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { openEventStream } from '../testing/eventStream.ts';
import { requestId } from './requestId.ts';
import { stopBusyPlatform } from './testing/busyShutdown.ts';

const UUID = /^[0-9a-f-]{36}$/;

describe('a request', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ TRUST_PROXY: '10.0.0.0/8' });
  });
  afterAll(async () => {
    await app?.close();
  });

  it('has an id, which every answer has in a header and every error in its body', async () => {
    const answers = await Promise.all([
      fetch(`${app.url}${API_PREFIX}user/profile`, { method: 'POST', headers: { 'x-request-id': 'mine-mine-mine' } }),
      fetch(`${app.url}/frontend-api/nothing`, { method: 'POST' }),
      fetch(`${app.url}/healthz`),
    ]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(UUID);
    expect(new Set(ids).size).toBe(3);
    const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as { requestId?: string }[];
    expect(bodies.map((body) => body.requestId)).toEqual([ids[0], ids[1], undefined]);
  });

  it('takes its id from a trusted proxy only', () => {
    const id = (trust: string | boolean, address: string, given: string) =>
      requestId(trust)({ headers: { 'x-request-id': given }, socket: { remoteAddress: address } } as never);
    expect(id('loopback, 10.0.0.0/8', '10.1.2.3', 'edge-0123456789')).toBe('edge-0123456789');
    expect(id('loopback, 10.0.0.0/8', '127.0.0.1', 'edge-0123456789')).toBe('edge-0123456789');
    expect(id('10.0.0.0/8', '192.0.2.1', 'edge-0123456789')).toMatch(UUID);
    expect(id(false, '127.0.0.1', 'edge-0123456789')).toMatch(UUID);
    for (const bad of ['short', 'a b c d e f g', 'x'.repeat(101), 'line\nbreak-0123', '{"level":60}-01234'])
      expect(id('10.0.0.0/8', '10.1.2.3', bad)).toMatch(UUID);
  });

  it('may have a body of 1 MiB and not more, and of 64 KiB where nobody signs in', async () => {
    const { accessToken } = (await app.signUp()).tokens();
    const fill = (bytes: number) => JSON.stringify({ name: 'A', email: 'a@example.com', password: '' }).padEnd(bytes);
    const send = async (path: string, body: string) => {
      const response = await fetch(`${app.url}${API_PREFIX}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` },
        body,
      });
      return { status: response.status, body: await response.json() };
    };
    const tooLarge = { status: 400, body: { message: 'The request is too large' } };
    for (const [path, field, limit] of [
      ['auth/email/register', 'password', 64 * 1024],
      ['client/audit/list', 'X-Client-ID', BODY_LIMIT],
    ] as const) {
      expect(await send(path, fill(limit + 1)), path).toMatchObject(tooLarge);
      expect((await send(path, fill(limit))).body, path).toMatchObject({ fieldsWithError: [field] });
    }
  });
});

describe('a graceful shutdown', () => {
  it('tells streams to reconnect, finishes the calls in progress, and ends', async () => {
    await stopBusyPlatform();
  });

  it('tells a stream to reconnect that was being admitted when it began', { timeout: 120_000 }, async () => {
    const app = await startTestApp();
    const other = new pg.Client({ connectionString: app.databaseUrl });
    await other.connect();
    const alice = await app.signUp();
    const { ticket } = await alice.client(api.auth.streamTicket, {});
    await other.query('begin');
    await other.query('select from stream_ticket for update');
    const opening = openEventStream(app.url, ticket);
    await expect.poll(() => waiters(other)).toBe(1);
    const closing = app.close();
    const refused = () =>
      fetch(`${app.url}/healthz`).then(
        () => false,
        () => true,
      );
    await expect.poll(refused).toBe(true);
    await other.query('rollback');
    await other.end();
    expect(await (await opening).closed).toBe(STREAM_CLOSE.restarting);
    await closing;
  });
});

async function waiters(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return rows[0]!.count;
}
