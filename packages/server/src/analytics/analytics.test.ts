import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ANALYTICS_EVENTS } from '@stagi/contract/analytics.ts';
import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { forwardEvent } from './forwardEvent.ts';

type Taken = { api_key: string; events: Record<string, unknown>[] };

const DEADLINE = { timeout: 60_000 };

describe('analytics', () => {
  let app: TestApp;
  let ingestion: Server;
  const taken: Taken[] = [];
  let status = 200;

  beforeAll(async () => {
    ingestion = createServer(async (request, response) => {
      let text = '';
      for await (const part of request.setEncoding('utf8')) text += part;
      if (status === 200) taken.push(JSON.parse(text) as Taken);
      response.writeHead(status).end('{}');
    });
    await new Promise<void>((resolve) => ingestion.listen(0, '127.0.0.1', resolve));
    app = await startTestApp({
      ANALYTICS_URL: `http://127.0.0.1:${(ingestion.address() as AddressInfo).port}/2/httpapi`,
      ANALYTICS_HOSTS: JSON.stringify([
        { host: '{env}.test.example', key: 'staging-key' },
        { host: 'app.example', key: 'app-key' },
        { host: 'www.example', key: 'site-key' },
      ]),
    });
  });
  afterAll(async () => {
    await app?.close();
    ingestion?.close();
  });

  const tell = (input: Partial<InputOf<typeof api.analytics.event>>) =>
    app.anonymous(api.analytics.event, {
      type: 'event',
      host: 'app.example',
      visitor: 'visitor-1234',
      name: 'header_tab_cloud_clicked',
      ...input,
    } as never);
  const waiting = () => app.ctx.db.selectFrom('analytics_event').selectAll().orderBy('id').execute();

  it('forwards an event with the key of its host, and deletes it', async () => {
    const timestamp = new Date().toISOString();
    await tell({ host: 'a.test.example', name: 'user_first_visit', properties: { timestamp } });
    await tell({ host: 'app.example', identifier: '7', name: 'container_cloned', properties: { clone_ID: 5 } });
    await tell({ host: 'www.example' });
    await tell({
      type: 'profile',
      identifier: '7',
      properties: { language: 'tr', plan: 'Free', role: 'Owner' },
    });
    await expect.poll(() => taken.length, DEADLINE).toBe(4);
    await expect.poll(waiting, DEADLINE).toEqual([]);
    const told = taken.map(({ api_key, events: [event] }) => [
      api_key,
      event?.event_type,
      event?.user_id,
      event?.event_properties ?? event?.user_properties,
    ]);
    expect(told).toHaveLength(4);
    expect(told).toEqual(
      expect.arrayContaining([
        ['staging-key', 'user_first_visit', undefined, { timestamp }],
        ['app-key', 'container_cloned', '7', { clone_ID: 5 }],
        ['site-key', 'header_tab_cloud_clicked', undefined, {}],
        ['app-key', '$identify', '7', { language: 'tr', plan: 'Free', role: 'Owner' }],
      ]),
    );
  });

  it('stores an event with the same id once, also in parallel and after it was forwarded', async () => {
    const before = taken.length;
    const again = { id: 'b'.repeat(32), name: 'header_tab_docs_clicked' } as const;
    const replies = await Promise.all(Array.from({ length: 5 }, () => tell(again)));
    expect(replies).toEqual(Array(5).fill({ isSuccess: true }));
    await expect.poll(waiting, DEADLINE).toEqual([]);
    await tell(again);
    await tell({ id: 'c'.repeat(32), name: 'header_tab_docs_clicked' });
    await expect.poll(() => taken.length, DEADLINE).toBe(before + 2);
    await expect.poll(waiting, DEADLINE).toEqual([]);
    expect(taken).toHaveLength(before + 2);
  });

  it('stores nothing for a host without analytics', async () => {
    for (const host of ['localhost:4400', 'evil.example', 'a.b.test.example', 'app.example:81', ''])
      expect(await tell({ host })).toEqual({ isSuccess: true });
    expect(await waiting()).toEqual([]);
  });

  it('refuses events and properties that are not in the list', async () => {
    const before = taken.length;
    for (const wrong of [
      { name: 'password_typed' },
      { properties: { password: 'x' } },
      { name: 'container_cloned', properties: {} },
      { name: 'user_first_visit', properties: { timestamp: 'yesterday' } },
      { visitor: 'x' },
      { id: 'x' },
      { identifier: 'ada@example.com' },
      { type: 'profile', properties: { email: 'ada@example.com' } },
    ]) {
      const reply = await app.post(api.analytics.event.path, {
        type: 'event',
        host: 'app.example',
        visitor: 'visitor-1234',
        name: 'header_tab_cloud_clicked',
        ...wrong,
      });
      expect(reply.status, JSON.stringify(wrong)).toBe(400);
    }
    expect(await waiting()).toEqual([]);
    expect(taken).toHaveLength(before);
    expect(Object.keys(ANALYTICS_EVENTS).length).toBeGreaterThan(0);
  });

  it('retries a failure, eight attempts in all, and drops at once what is refused for good', async () => {
    const quiet = { ...app.ctx, log: app.ctx.log.child({}, { level: 'silent' }) };
    const id = async (name: string) => {
      const row = await app.ctx.db
        .insertInto('analytics_event')
        .values({ host: 'app.example', visitor: 'visitor-1234', identifier: null, name, properties: '{}' })
        .returning('id')
        .executeTakeFirstOrThrow();
      return row.id;
    };
    const down = await id('header_tab_logo_clicked');
    status = 503;
    for (let tries = 1; tries < 8; tries += 1) {
      await expect(forwardEvent(quiet, down)).rejects.toThrow('HTTP 503');
      expect(await waiting()).toMatchObject([{ id: down, tries }]);
    }
    await forwardEvent(quiet, down);
    expect(await waiting()).toEqual([]);

    status = 400;
    await forwardEvent(quiet, await id('header_tab_logo_clicked'));
    expect(await waiting()).toEqual([]);
    status = 200;
  });

  it('is rate limited per IP address', async () => {
    const elsewhere = { type: 'event', host: 'none', visitor: 'visitor-1234', name: 'header_tab_logo_clicked' };
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length < 200)
      statuses.push((await app.post(api.analytics.event.path, elsewhere)).status);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.length).toBeLessThanOrEqual(121);
  });
});
