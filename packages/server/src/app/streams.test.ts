import { randomUUID } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { WorkspaceEvent } from '@stagi/contract/events.ts';
import { UPLOAD_PATH } from '@stagi/contract/volumeFiles.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { announce } from '../bus/bus.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { eventsOf, openEventStream } from '../testing/eventStream.ts';
import { anApiToken } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { type Actor, actorsOf } from './testing/actors.ts';
import { canariesIn } from './testing/canaries.ts';
import { type RawAnswer, withoutRequestId } from './testing/rawCall.ts';
import { requestWebSocket } from './testing/rawRequests.ts';
import { ABSENT } from './testing/sample.ts';
import { aMember, type SeededWorkspace, seedWorkspace } from './testing/seededWorkspace.ts';
import { changedTables, hashTables } from './testing/tableHashes.ts';

const PATIENCE = { timeout: 60_000, interval: 25 };
const EVENTS = `${API_PREFIX}events`;
const TAIL = `${API_PREFIX}logging/tail`;
const TERMINALS = ['docker-container', 'instance-rented', 'self-hosted-instance'] as const;

/** What is served beside the calls of the table, and where it is shown that it tells nobody too much. */
const BESIDE_THE_CALLS: Record<string, string> = {
  [EVENTS]: 'here',
  [TAIL]: 'here',
  ...Object.fromEntries(TERMINALS.map((kind) => [`${API_PREFIX}${kind}/:id/terminal`, 'here'])),
  [`${UPLOAD_PATH}*`]: 'faults/volumeFiles.test.ts: by a sealed ticket of its owner alone',
  [`${API_PREFIX}user/picture/:name`]: 'users/picture.test.ts: found by a random name alone',
  '/daemon-api/link': 'daemon-link/link.test.ts: by the key of its own server alone',
  '/daemon-api/streams': 'faults/streams.test.ts: once, by a ticket that its link was given',
  '/daemon-api/enrol': 'daemon-link/enrolment.test.ts: once, by the file of its server alone',
  '/daemon-api/reach': 'answers nothing',
  '/daemon-api/install.sh': 'the same for everybody',
  '/daemon-api/stagid-linux-x64.tar.gz': 'the same for everybody',
  '/daemon-api/stagid-linux-x64.tar.gz.sha256': 'the same for everybody',
  '/daemon-api/task/source': 'taskTransfer/isolation.test.ts: by the token of its run alone',
  '/daemon-api/task/input': 'taskTransfer/isolation.test.ts: by the token of its run alone',
  '/daemon-api/task/output/links': 'taskTransfer/isolation.test.ts: by the token of its run alone',
  '/daemon-api/task/output/begin': 'taskTransfer/isolation.test.ts: by the token of its run alone',
  '/daemon-api/task/output/parts': 'taskTransfer/isolation.test.ts: by the token of its run alone',
  '/daemon-api/task/output/complete': 'taskTransfer/isolation.test.ts: by the token of its run alone',
  '/oauth/token': 'apps/apps.test.ts: by a code or a refresh token alone',
  '/oauth/revoke': 'apps/apps.test.ts: ends what is shown, tells nothing',
  '/.well-known/oauth-authorization-server': 'the same for everybody',
  '/git/*': 'gitHosting/hostileGit.test.ts: by an API token alone',
  '/dev/mail': 'development alone: config.ts',
  '/dev/mail/list': 'development alone: config.ts',
  '/openapi.json': 'the same for everybody',
  '/configuration.json': 'the same for everybody',
  '/healthz': 'the same for everybody',
  '/readyz': 'the same for everybody',
  '/docs/*': 'the same for everybody',
  '/docs.md': 'the same for everybody',
  '/tutorials/*': 'the same for everybody',
  '/blog/*': 'the same for everybody',
  '/terms-of-service.md': 'the same for everybody',
  '/privacy-policy.md': 'the same for everybody',
  '/ai-use-policy.md': 'the same for everybody',
  '/blog/feed.xml': 'the same for everybody',
  '/llms.txt': 'the same for everybody',
  '/search-index.en.json': 'the same for everybody',
  '/search-index.cn.json': 'the same for everybody',
  '/search-index.ru.json': 'the same for everybody',
  '/search-index.tr.json': 'the same for everybody',
  '/robots.txt': 'the same for everybody',
  '/sitemap.xml': 'the same for everybody',
};

describe('streams between workspaces', () => {
  let app: TestApp;
  let victim: SeededWorkspace;
  let visitor: SeededWorkspace;
  let guest: Person;
  let actors: Actor[];
  let cells = 0;

  beforeAll(async () => {
    app = await startTestApp({ STAGI_WEB_DIR: '/nowhere' }, { role: 'api' });
    victim = await seedWorkspace(app, 'victim');
    visitor = await seedWorkspace(app, 'visitor');
    actors = await actorsOf(app, victim, visitor);
    guest = await app.signUp('Guest');
    await aMember(app, guest, victim.owner.workspaceId, 'Guest');
    guest.useWorkspace(victim.owner.workspaceId);
  });
  afterAll(async () => {
    console.log(`streams between workspaces: n = ${cells} cells and frames, 0 leaks`);
    expect(cells).toBeGreaterThan(0);
    await app?.close();
  });

  it('are all there is beside the calls of the table, and what is known to be harmless', () => {
    const served = new Set(app.routes().filter((path) => !path.startsWith(API_PREFIX) || path in BESIDE_THE_CALLS));
    expect([...served].filter((path) => !(path in BESIDE_THE_CALLS))).toEqual([]);
    expect(Object.keys(BESIDE_THE_CALLS).filter((path) => !served.has(path))).toEqual([]);
  });

  it('do not open without a ticket, whatever else is presented, and change nothing', async () => {
    const spent = await ticketOf(visitor.owner);
    await (await openEventStream(app.url, spent)).leave();
    const before = await hashTables(app.databaseUrl);
    for (const actor of actors) {
      const authorization = actor.authorization(api.instances.list);
      const shown = authorization?.slice('Bearer '.length) ?? '';
      const headers: Record<string, string> = authorization ? { authorization } : {};
      for (const ticket of ['', shown.slice(0, 200), spent, 'x'.repeat(32)]) {
        const events = await requestWebSocket(app.url, `${EVENTS}?ticket=${ticket}`, headers);
        refused(events, 401, `events by ${actor.name}`);
        const tails = await tailsOf(ticket, headers, victim.ids.container, visitor.ids.container, ABSENT.container);
        for (const tail of tails) refused(tail, 401, `tail by ${actor.name}`);
        for (const kind of TERMINALS)
          refused(await terminalOf(ticket, kind, victim.ids.container, headers), 401, `${kind} by ${actor.name}`);
        expect(new Set(tails.map(withoutRequestId)).size).toBe(1);
      }
    }
    expect(changedTables(before, await hashTables(app.databaseUrl))).toEqual([]);
  });

  it('answer the same for somebody else’s container, an absent one and one without permission', async () => {
    const { token } = await anApiToken(app.ctx, visitor.owner);
    const narrow = await anApiToken(app.ctx, victim.owner, { permissions: ['BASIC_ACTIONS', 'BILLING'] });
    const tickets = [
      () => ticketOf(visitor.owner),
      () => ticketWith(token),
      () => ticketOf(guest),
      () => ticketWith(narrow.token),
    ];
    for (const ticket of tickets) {
      const tails: RawAnswer[] = [];
      for (const id of [victim.ids.container, ABSENT.container]) tails.push(...(await tailsOf(await ticket(), {}, id)));
      for (const tail of tails) refused(tail, 404, 'tail');
      expect(new Set(tails.map(withoutRequestId)).size).toBe(1);
      const { container, instance, own } = victim.ids;
      for (const [kind, id, without] of [
        ['docker-container', container, ABSENT.container],
        ['instance-rented', instance, ABSENT.instance],
        ['self-hosted-instance', own, ABSENT.own],
      ] as const) {
        const terminals: RawAnswer[] = [];
        for (const each of [id, without]) terminals.push(await terminalOf(await ticket(), kind, each));
        const [{ status }] = terminals as [RawAnswer];
        expect([403, 404], kind).toContain(status);
        for (const terminal of terminals) refused(terminal, status, `terminal of ${kind}`);
        expect(new Set(terminals.map(withoutRequestId)).size).toBe(1);
      }
    }
  });

  it('send only what their reader may see of their own workspace', async () => {
    const events = await eventsOf(app.url, visitor.owner);
    const guests = await eventsOf(app.url, guest);
    const tail = await tailOf(await ticketOf(visitor.owner), visitor.ids.container);
    const entities = WorkspaceEvent.shape.entity.options;
    for (const entity of entities)
      await announce(app.ctx.db, 'changed', { entity, id: FOREIGN, workspaceId: victim.owner.workspaceId });
    for (const [containerId, text] of [
      [victim.ids.container, 'canary-v-log-line'],
      [visitor.ids.container, 'canary-m-log-line'],
    ] as const) {
      const line = { seq: 2, time: new Date().toISOString(), stream: 'stdout' as const, text };
      app.ctx.bus.publish('log', { containerId, lines: [line], gaps: [] });
    }
    // What comes last shows that all before it has come.
    await announce(app.ctx.db, 'changed', { entity: 'client', id: LAST, workspaceId: visitor.owner.workspaceId });
    await announce(app.ctx.db, 'changed', { entity: 'client', id: LAST, workspaceId: victim.owner.workspaceId });
    await expect.poll(() => events.text(), PATIENCE).toContain(String(LAST));
    await expect.poll(() => guests.text(), PATIENCE).toContain(String(LAST));
    await expect.poll(() => tail.text(), PATIENCE).toContain('canary-m-log-line');
    expect(events.text()).not.toContain(String(FOREIGN));
    for (const text of [events.text(), tail.text()]) expect(canariesIn(text, 'victim')).toEqual([]);
    const heard = guests.received.flatMap((event) =>
      event.type === 'changed' && event.id === FOREIGN ? event.entity : [],
    );
    expect(heard.toSorted()).toEqual(['balance', 'client', 'ssh-key']);
    cells += 3 * entities.length;
    for (const stream of [events, guests, tail]) await stream.leave();
  });

  function refused(answer: RawAnswer, status: number, place: string): void {
    cells += 1;
    expect.soft(answer.status, `${place}: ${answer.text}`).toBe(status);
    for (const whose of ['victim', 'visitor'] as const)
      expect.soft(canariesIn(answer.text + JSON.stringify(answer.headers), whose), place).toEqual([]);
  }

  const ticketOf = async (person: Person): Promise<string> => (await person.client(api.auth.streamTicket, {})).ticket;

  async function ticketWith(token: string): Promise<string> {
    const { body } = await app.post(api.auth.streamTicket.path, {}, { authorization: `Bearer ${token}` });
    return (body as { ticket: string }).ticket;
  }

  async function tailsOf(ticket: string, headers: Record<string, string>, ...ids: number[]): Promise<RawAnswer[]> {
    const answers: RawAnswer[] = [];
    for (const id of ids) answers.push(await requestWebSocket(app.url, `${TAIL}?${question(ticket, id)}`, headers));
    return answers;
  }

  function terminalOf(ticket: string, kind: string, id: number, headers: Record<string, string> = {}) {
    const query = new URLSearchParams({ ticket, session: randomUUID(), cols: '80', rows: '24' });
    return requestWebSocket(app.url, `${API_PREFIX}${kind}/${id}/terminal?${query}`, headers);
  }

  interface Stream {
    text(): string;
    leave(): Promise<void>;
  }

  async function tailOf(ticket: string, id: number): Promise<Stream> {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}${TAIL}?${question(ticket, id)}`);
    let text = '';
    socket.on('message', (data: Buffer) => {
      text += data.toString();
    });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    // Its history has come: what is published from now on is passed on.
    await expect.poll(() => text, PATIENCE).toContain('canary-m-');
    return {
      text: () => text,
      leave: () =>
        new Promise((resolve) => {
          socket.once('close', () => resolve());
          socket.close();
        }),
    };
  }
});

const FOREIGN = 987_654_321;
const LAST = 123_456_789;

const question = (ticket: string, id: number): string =>
  String(new URLSearchParams({ ticket, type: 'docker-container', id: String(id), after: '0' }));
