import { connect } from 'node:net';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { announce } from '../bus/bus.ts';
import { inTransaction } from '../db/pool.ts';
import { issueEnrolment } from '../nodes/enrolment.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { connectDaemon, enrolNode } from '../testing/daemon.ts';
import { createTestDatabase } from '../testing/database.ts';
import { type DatabaseProxy, proxyDatabase } from '../testing/databaseProxy.ts';
import { eventsOf } from '../testing/eventStream.ts';
import { aRentedInstance } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

const BACK_WITHIN_MS = 20_000;
const AWAY_MS = 3_000;
const HEADERS_WITHIN_MS = 15_000;
const POOL = 10;
const CROWD = 260;
/** A loaded machine answers late; the times are printed. */
const SLOWEST_MS = 30_000;
const AT_ONCE_MOST_MS = 4_000;

describe('without its database', { timeout: 120_000 }, () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let proxy: DatabaseProxy;
  let app: TestApp;
  let alice: Person;
  let slow: ReturnType<typeof sendSlowly>;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await proxyDatabase(database.url);
    app = await startTestApp({ DATABASE_URL: proxy.url });
    alice = await app.signUp();
    // Needs nothing but time: the other tests pass meanwhile.
    slow = sendSlowly(app.url);
  });
  afterAll(async () => {
    proxy?.restore();
    await app?.close();
    await proxy?.close();
    await database?.drop();
  });

  afterEach(() => proxy.restore());

  const profile = () => timed(app, alice);
  const get = async (path: string) => {
    const since = performance.now();
    const { status } = await fetch(`${app.url}${path}`);
    return { status, ms: performance.now() - since };
  };

  it('the platform answers 503 at once, keeps its links, and recovers by itself', async () => {
    const server = await aRentedInstance(app.ctx, alice);
    const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, server, 'rented'));
    const daemon = await connectDaemon(app.url, await enrolNode(app.url, token));
    const events = await eventsOf(app.url, alice);

    proxy.cut();
    const during = [];
    for (const began = performance.now(); performance.now() - began < AWAY_MS; ) during.push(await profile());
    expect(new Set(during.map(({ status }) => status))).toEqual(new Set([503]));
    expect(during.every(({ retryAfter }) => retryAfter !== null && retryAfter > 0)).toBe(true);
    const slowest = Math.max(...during.map(({ ms }) => ms));
    expect(slowest).toBeLessThan(AT_ONCE_MOST_MS);
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
    await events.leave();
    console.log(
      `database away: n = ${during.length} calls, all 503, slowest ${slowest.toFixed(0)} ms; ` +
        `back: calls ${callsMs.toFixed(0)} ms, events ${busMs.toFixed(0)} ms`,
    );
  });

  it('an exhausted pool refuses a crowd about when the first of it gives up, and says how it is', async () => {
    const held = await Promise.all(Array.from({ length: POOL }, () => app.ctx.pg.connect()));
    const sleeping = held.map(async (client) => {
      await client.query('set statement_timeout = 0');
      await client.query({ text: 'select pg_sleep(60)', query_timeout: 60_000 } as never);
    });
    const ended = Promise.allSettled(sleeping);
    try {
      const crowd = Array.from({ length: CROWD }, profile);
      const [alive, ready] = await Promise.all([get('/healthz'), get('/readyz')]);
      expect([alive.status, ready.status]).toEqual([200, 503]);
      const answers = await Promise.all(crowd);
      // 429: too many of one person.
      expect(answers.filter(({ status }) => status !== 503 && status !== 429)).toEqual([]);
      expect(answers.every(({ retryAfter }) => retryAfter !== null && retryAfter > 0)).toBe(true);
      const slowest = Math.max(...answers.map(({ ms }) => ms));
      expect(slowest).toBeLessThan(SLOWEST_MS);
      console.log(
        `pool exhausted: n = ${CROWD} calls refused, slowest ${slowest.toFixed(0)} ms; ` +
          `healthz ${alive.ms.toFixed(0)} ms, readyz ${ready.ms.toFixed(0)} ms`,
      );
    } finally {
      for (const client of held) client.release(true);
      await ended;
    }
    await expect.poll(async () => (await profile()).status, { timeout: BACK_WITHIN_MS }).toBe(200);
  });

  it('a database that accepts connections and answers nothing makes only the first callers wait', async () => {
    proxy.freeze();
    const first = await Promise.all([profile(), profile()]);
    expect(first.map(({ status }) => status)).toEqual([503, 503]);
    expect(Math.max(...first.map(({ ms }) => ms))).toBeLessThan(SLOWEST_MS);
    // Loops of the platform may hold the whole pool at first; a call that then gets a connection waits for its end.
    let later: Awaited<ReturnType<typeof profile>>[] = [];
    const slowest = () => Math.max(...later.map(({ ms }) => ms));
    const twentyInARow = async (): Promise<number> => {
      later = [];
      while (later.length < 20 && slowest() < AT_ONCE_MOST_MS) later.push(await profile());
      return later.length;
    };
    await expect.poll(twentyInARow, { timeout: BACK_WITHIN_MS }).toBe(20);
    expect(new Set(later.map(({ status }) => status))).toEqual(new Set([503]));
    expect(slowest()).toBeLessThan(AT_ONCE_MOST_MS);
    proxy.restore();
    const since = performance.now();
    await expect.poll(async () => (await profile()).status, { timeout: BACK_WITHIN_MS, interval: 20 }).toBe(200);
    console.log(
      `database frozen: first n = 2 calls 503 after ${first[0]!.ms.toFixed(0)} ms, next n = ${later.length} calls 503, ` +
        `slowest ${slowest().toFixed(0)} ms; back after ${(performance.now() - since).toFixed(0)} ms`,
    );
  });

  it('a statement that takes too long is cancelled and answered with 503', async () => {
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
    expect(ms).toBeLessThan(SLOWEST_MS);
    await sql`drop trigger slow on ssh_key`.execute(app.ctx.db);
    const again = await app.post(
      'ssh-key/generate',
      { title: 'laptop' },
      { ...signedIn(alice), 'idempotency-key': '1' },
    );
    expect(again.status).toBe(200);
    console.log(`slow statement: 503 after ${ms.toFixed(0)} ms`);
  });

  it('ends a request that is sent too slowly', { timeout: 120_000 }, async () => {
    const { text, ms } = await slow;
    expect(text).toMatch(/^HTTP\/1.1 408 /);
    expect(ms).toBeGreaterThan(HEADERS_WITHIN_MS - 1_000);
    console.log(`slow request: ended after ${(ms / 1000).toFixed(1)} s`);
  });
});

async function timed(app: TestApp, person: Person) {
  const since = performance.now();
  const { status, retryAfter } = await app.post('user/profile', {}, signedIn(person));
  return { status, retryAfter: retryAfter ?? null, ms: performance.now() - since };
}

function signedIn(person: Person): Record<string, string> {
  return { authorization: `Bearer ${person.tokens().accessToken}`, 'x-client-id': String(person.workspaceId) };
}

/** Begins a request and never ends it; answers what the server says to that, and when. */
async function sendSlowly(url: string): Promise<{ text: string; ms: number }> {
  const since = performance.now();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`POST ${API_PREFIX}user/profile HTTP/1.1\r\nHost: x\r\n`);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return { text, ms: performance.now() - since };
}
