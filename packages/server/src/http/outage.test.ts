import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { announce } from '../bus/bus.ts';
import { issueEnrolment } from '../daemon-link/enrolment.ts';
import { startEmbeddedPostgres } from '../db/embedded.ts';
import { inTransaction } from '../db/pool.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { connectDaemon, enrolNode } from '../testing/daemon.ts';
import { createTestDatabase } from '../testing/database.ts';
import { type DatabaseProxy, proxyDatabase } from '../testing/databaseProxy.ts';
import { aRentedInstance } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

const BACK_WITHIN_MS = 10_000;
const AWAY_MS = 3_000;
const CONNECT_TIMEOUT_MS = 5_000;
const POOL = 10;

describe('without its database', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let proxy: DatabaseProxy;
  let app: TestApp;
  let alice: Person;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await proxyDatabase(database.url);
    app = await startTestApp({ DATABASE_URL: proxy.url });
    alice = await app.signUp();
  });
  afterAll(async () => {
    proxy?.restore();
    await app?.close();
    await proxy?.close();
    await database?.drop();
  });

  const profile = () => timed(app, alice);

  it('the platform answers 503 at once, keeps its links, and comes back by itself', async () => {
    const server = await aRentedInstance(app.ctx, alice);
    const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, server, 'rented'));
    const daemon = await connectDaemon(app.url, await enrolNode(app.url, token));
    const { ticket } = await alice.client(api.auth.streamTicket, {});
    const events = follow(await fetch(`${app.url}/frontend-api/events?ticket=${ticket}`));

    proxy.cut();
    const during = [];
    for (const began = performance.now(); performance.now() - began < AWAY_MS; ) during.push(await profile());
    expect(new Set(during.map(({ status }) => status))).toEqual(new Set([503]));
    expect(during.every(({ retryAfter }) => retryAfter !== null && retryAfter > 0)).toBe(true);
    const slowest = Math.max(...during.map(({ ms }) => ms));
    expect(slowest).toBeLessThan(1_000);
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${app.url}/readyz`)).status).toBe(503);
    daemon.send({ type: 'heartbeat', at: new Date().toISOString() });
    expect(daemon.socket.readyState).toBe(daemon.socket.OPEN);

    proxy.restore();
    const since = performance.now();
    await expect.poll(async () => (await profile()).status, { timeout: BACK_WITHIN_MS, interval: 20 }).toBe(200);
    const callsMs = performance.now() - since;
    const change = { entity: 'client', id: alice.workspaceId, workspaceId: alice.workspaceId } as const;
    await expect
      .poll(
        async () => {
          await announce(app.ctx.db, 'changed', change);
          return events.text();
        },
        { timeout: BACK_WITHIN_MS, interval: 50 },
      )
      .toContain('"entity":"client"');
    const busMs = performance.now() - since;
    await sql`insert into pending_registration (id, flow, email, name, password_hash, code_hash, expires_at)
      values (gen_random_uuid(), gen_random_uuid(), 'late@example.com', '', '', '', now() - interval '2 days')`.execute(
      app.ctx.db,
    );
    await app.ctx.jobs.enqueue(app.ctx.db, 'clean-up', {});
    await expect
      .poll(() => sql`select 1 from pending_registration where email = 'late@example.com'`.execute(app.ctx.db), {
        timeout: BACK_WITHIN_MS,
      })
      .toMatchObject({ rows: [] });
    expect(daemon.socket.readyState).toBe(daemon.socket.OPEN);
    await daemon.close();
    events.end();
    console.log(
      `database away: n = ${during.length} calls, all 503, slowest ${slowest.toFixed(0)} ms; ` +
        `back: calls ${callsMs.toFixed(0)} ms, events ${busMs.toFixed(0)} ms`,
    );
  });

  it('an exhausted pool answers 503 within the connection time-out', async () => {
    const held = await Promise.all(Array.from({ length: POOL }, () => app.ctx.pg.connect()));
    const sleeping = held.map(async (client) => {
      await client.query('set statement_timeout = 0');
      await client.query('select pg_sleep(60)');
    });
    const ended = Promise.allSettled(sleeping);
    const answers = await Promise.all([profile(), profile(), profile(), fetch(`${app.url}/healthz`)]);
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 200]);
    const slowest = Math.max(...answers.map((answer) => ('ms' in answer ? answer.ms : 0)));
    expect(slowest).toBeLessThan(CONNECT_TIMEOUT_MS + 1_000);
    for (const client of held) client.release(true);
    await ended;
    expect((await profile()).status).toBe(200);
    console.log(`pool exhausted: n = 3 calls, all 503, slowest ${slowest.toFixed(0)} ms`);
  });

  it('a statement that takes too long is ended and answered with 503', async () => {
    await sql`create function slow() returns trigger language plpgsql as
      'begin perform pg_sleep(60); return new; end'`.execute(app.ctx.db);
    await sql`create trigger slow before insert on ssh_key for each row execute function slow()`.execute(app.ctx.db);
    const since = performance.now();
    const reply = await app.post(
      'ssh-key/generate',
      { title: 'laptop' },
      { ...signedIn(alice), 'idempotency-key': '1' },
    );
    const ms = performance.now() - since;
    expect(reply).toMatchObject({ status: 503, retryAfter: 2, body: { isSuccess: false } });
    expect(ms).toBeLessThan(6_000);
    await sql`drop trigger slow on ssh_key`.execute(app.ctx.db);
    const again = await app.post(
      'ssh-key/generate',
      { title: 'laptop' },
      { ...signedIn(alice), 'idempotency-key': '1' },
    );
    expect(again.status).toBe(200);
    console.log(`slow statement: 503 after ${ms.toFixed(0)} ms`);
  });
});

it('the embedded database is killed at once and everything goes on by itself', { timeout: 60_000 }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stagi-outage-'));
  const quiet = { info: () => {}, warn: () => {} };
  const postgres = await startEmbeddedPostgres({ dataDir, log: quiet });
  const app = await startTestApp({ DATABASE_URL: postgres.url });
  try {
    const alice = await app.signUp();
    process.kill(Number.parseInt(readFileSync(join(dataDir, 'cluster/postmaster.pid'), 'utf8'), 10), 'SIGQUIT');
    const since = performance.now();
    const answers: number[] = [];
    const ask = async (): Promise<number | undefined> => {
      answers.push((await timed(app, alice)).status);
      return answers.includes(503) ? answers.at(-1) : undefined;
    };
    await expect.poll(ask, { timeout: BACK_WITHIN_MS, interval: 20 }).toBe(200);
    expect(answers.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    console.log(
      `database killed: n = ${answers.length} calls, back after ${(performance.now() - since).toFixed(0)} ms`,
    );
  } finally {
    await app.close();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

async function timed(app: TestApp, person: Person) {
  const since = performance.now();
  const { status, retryAfter } = await app.post('user/profile', {}, signedIn(person));
  return { status, retryAfter: retryAfter ?? null, ms: performance.now() - since };
}

function signedIn(person: Person): Record<string, string> {
  return { authorization: `Bearer ${person.tokens().accessToken}`, 'x-client-id': String(person.workspaceId) };
}

/** Gathers what a stream says until it is ended. */
function follow(response: Response): { text(): string; end(): void } {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  const read = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
    }
  };
  const reading = read();
  return {
    text: () => text,
    end: () => void reader.cancel().then(() => reading),
  };
}
