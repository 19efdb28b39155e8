import { connect } from 'node:net';
import { api } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { STREAM_PING_MS } from '@stagi/contract/streams.ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { requestWebSocket } from '../app/testing/rawRequests.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { eventsOf, openEventStream } from '../testing/eventStream.ts';
import type { Person } from '../testing/person.ts';

/** A pong that nobody asked for: it shows whether the connection still stands. */
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
/** Events in one tick: fewer than a quick reader's buffer holds. */
const AT_ONCE = 3_000;
const PATIENCE = { timeout: 60_000, interval: 25 };

describe('the event stream', () => {
  let app: TestApp;
  let ada: Person;
  beforeAll(async () => {
    app = await startTestApp({}, { role: 'api' });
    ada = await app.signUp();
  });
  afterAll(() => app?.close());

  const ticketOf = async (person: Person): Promise<string> => (await person.client(api.auth.streamTicket, {})).ticket;
  const upgrade = async (ticket: string, headers: Record<string, string> = {}): Promise<number> =>
    (await requestWebSocket(app.url, `${API_PREFIX}events?${new URLSearchParams({ ticket })}`, headers)).status;
  const change = (workspaceId: number, id: number): void =>
    app.ctx.bus.publish('changed', { workspaceId, entity: 'client', id });

  it('opens once with a ticket, which is good for 30 s and names the workspace', async () => {
    const ticket = await ticketOf(ada);
    expect(await upgrade(ticket)).toBe(101);
    expect(await upgrade(ticket)).toBe(401);
    expect(await upgrade('')).toBe(401);
    const late = await ticketOf(ada);
    await app.ctx.db
      .updateTable('stream_ticket')
      .set({ expires_at: new Date(Date.now() - 1) })
      .execute();
    expect(await upgrade(late)).toBe(401);
    const raced = await ticketOf(ada);
    const answers = await Promise.all(Array.from({ length: 10 }, () => upgrade(raced)));
    expect(answers.toSorted()).toEqual([101, ...Array.from({ length: 9 }, () => 401)]);
    await expect(app.post(`events?ticket=${await ticketOf(ada)}`, {})).resolves.toMatchObject({ status: 404 });
  });

  it('opens only for a page of its own origin, and leaves the ticket of a refused one', async () => {
    const ticket = await ticketOf(ada);
    const { port } = new URL(app.url);
    for (const origin of ['https://evil.example', `http://localhost.evil.example:${port}`, 'null'])
      expect(await upgrade(ticket, { origin }), origin).toBe(403);
    expect(await upgrade(ticket, { origin: app.url })).toBe(101);
  });

  it('pings, so that a page may tell a silent stream from a dead one', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const events = await eventsOf(app.url, ada);
      vi.advanceTimersByTime(STREAM_PING_MS);
      await expect.poll(() => events.received, PATIENCE).toContainEqual({ type: 'ping' });
      await events.leave();
    } finally {
      vi.useRealTimers();
    }
  });

  it('cuts off a reader that is too slow, and goes on for the others', async () => {
    const quick = await eventsOf(app.url, ada);
    const { hostname, port } = new URL(app.url);
    const slow = connect(Number(port), hostname);
    const head = [
      `GET ${API_PREFIX}events?ticket=${await ticketOf(ada)} HTTP/1.1`,
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${Buffer.from('sixteen bytes...').toString('base64')}`,
    ];
    slow.write(`${head.join('\r\n')}\r\n\r\n`);
    // The answer to the upgrade is read, and nothing after it.
    const answer = await new Promise<Buffer>((resolve) => slow.once('data', resolve));
    slow.pause();
    expect(String(answer)).toMatch(/^HTTP\/1.1 101/);
    let cut = false;
    slow.on('error', () => {});
    slow.on('close', () => {
      cut = true;
    });

    let sent = 0;
    await expect
      .poll(
        () => {
          for (let n = 0; n < AT_ONCE; n += 1) {
            sent += 1;
            change(ada.workspaceId, sent);
          }
          if (!cut) slow.write(PONG);
          return cut;
        },
        { timeout: 60_000, interval: 5 },
      )
      .toBe(true);
    await expect.poll(() => quick.received.at(-1), PATIENCE).toMatchObject({ id: sent });
    const ids = quick.received.flatMap((message) =>
      message.type === 'changed' && message.id !== null ? message.id : [],
    );
    expect(ids.slice(-sent)).toEqual(Array.from({ length: sent }, (_, index) => index + 1));
    console.log(`slow reader: cut off after ${sent} events, the other got all`);
    await quick.leave();
  });

  it('begins with what has just changed, of its own workspace alone', async () => {
    const [eve, bob] = [await app.signUp(), await app.signUp()];
    change(bob.workspaceId, 1);
    change(bob.workspaceId, 1);
    change(eve.workspaceId, 2);
    const [hers, his] = [await eventsOf(app.url, eve), await eventsOf(app.url, bob)];
    await expect
      .poll(() => [his.received, hers.received], PATIENCE)
      .toEqual([[{ type: 'changed', entity: 'client', id: 1 }], [{ type: 'changed', entity: 'client', id: 2 }]]);
    await Promise.all([hers.leave(), his.leave()]);
    await expect(openEventStream(app.url, 'made up')).rejects.toThrow('401');
  });
});
