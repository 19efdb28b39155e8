import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import type { Tokens } from '@stagi/contract/apiClient.ts';
import type { Role } from '@stagi/contract/permissions.ts';
import { hostOf, type PortTarget } from '@stagi/server/src/containerAccess/address.ts';
import { signPass } from '@stagi/server/src/containerAccess/pass.ts';
import { STATUS } from '@stagi/server/src/portProxy/words.ts';
import { createSession } from '@stagi/server/src/sessions/sessions.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { aContainerWithPort } from '@stagi/server/src/testing/containerWithPort.ts';
import { openEventStream } from '@stagi/server/src/testing/eventStream.ts';
import { anApiToken, markSteppedUp } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { sessionOf } from './refresh.ts';
import { until } from './until.ts';

const PATIENCE_MS = 60_000;

/** The caller with open streams: a browser, or a program with an API token of the person. */
type Caller = 'session' | 'token';

/** The configuration for container ports on hosts of their own. */
export const WITH_PORTS = { APPS_DOMAIN: 'apps.localhost:4400' };

/**
 * Milliseconds from the revocation to the first refused call, to the end of each stream, and until the cookie of a
 * container port is refused. Programs have no cookie.
 */
export interface Refusals {
  call: number[];
  events: number[];
  tail: number[];
  port?: number[];
}

export interface RevocationReport {
  /** By the way of the revocation and the kind of caller. */
  ways: Map<string, Refusals>;
  wrong: string[];
}

interface Ending {
  name: string;
  from: readonly Caller[];
  end(tokens: Tokens, tokenId: number): Promise<unknown>;
  /** Restores the access for the next round. */
  undo?(): Promise<unknown>;
  /** The person stays a member: the event stream goes on, without what they may no longer see. */
  keepsEvents?: boolean;
}

/** Revokes the access of a person in every way, `times` times each, while they make calls and follow streams. */
export async function runRevocations(app: TestApp, person: Person, times: number): Promise<RevocationReport> {
  const { db } = app.ctx;
  const mine = { user_id: person.userId, workspace_id: person.workspaceId };
  // A second owner, as a workspace must keep one.
  const { userId: other } = await app.signUp();
  await db
    .insertInto('membership')
    .values({ ...mine, user_id: other, role: 'Owner' })
    .execute();
  // A rented server is stopped when its workspace is disabled, and stays stopped once that is undone.
  const { id, slug } = await aContainerWithPort(app.ctx, person, 'self-hosted');
  const container = { id, place: { slug, port: 8080 } };
  const endings: Ending[] = [
    {
      name: 'ended in the list',
      from: ['session'],
      async end({ accessToken }) {
        await markSteppedUp(app.ctx, person);
        await person.client(api.sessions.revoke, { id: sessionOf(accessToken) });
      },
    },
    {
      name: 'refresh token reused',
      from: ['session'],
      async end({ refreshToken }) {
        const { refreshToken: next } = await app.anonymous(api.auth.exchangeRefreshToken, { refreshToken });
        await app.anonymous(api.auth.exchangeRefreshToken, { refreshToken: next });
        // The grandparent token, which no racing tab can still have.
        await app.post(api.auth.exchangeRefreshToken.path, { refreshToken });
      },
    },
    {
      name: 'logged out',
      from: ['session'],
      end: ({ refreshToken }) => app.anonymous(api.auth.logout, { refreshToken }),
    },
    {
      name: 'disabled',
      from: ['session', 'token'],
      end: () => db.updateTable('app_user').set({ disabled_at: new Date() }).where('id', '=', mine.user_id).execute(),
      undo: () => db.updateTable('app_user').set({ disabled_at: null }).where('id', '=', mine.user_id).execute(),
    },
    {
      name: 'workspace disabled',
      from: ['session', 'token'],
      end: () =>
        db.updateTable('workspace').set({ disabled_at: new Date() }).where('id', '=', mine.workspace_id).execute(),
      undo: () => db.updateTable('workspace').set({ disabled_at: null }).where('id', '=', mine.workspace_id).execute(),
    },
    {
      name: 'made a guest',
      from: ['session', 'token'],
      end: () => setRole('Guest'),
      undo: () => setRole('Owner'),
      keepsEvents: true,
    },
    { name: 'token archived', from: ['token'], end: (_, id) => person.client(api.apiTokens.archive, { id }) },
    {
      name: 'removed from the workspace',
      from: ['session', 'token'],
      end: () =>
        db
          .deleteFrom('membership')
          .where('user_id', '=', mine.user_id)
          .where('workspace_id', '=', mine.workspace_id)
          .execute(),
      undo: () =>
        db
          .insertInto('membership')
          .values({ ...mine, role: 'Owner' })
          // It was not taken away when the round failed before; that is in the report.
          .onConflict((conflict) => conflict.doNothing())
          .execute(),
    },
  ];
  const setRole = (role: Role): Promise<unknown> =>
    db
      .updateTable('membership')
      .set({ role })
      .where('user_id', '=', mine.user_id)
      .where('workspace_id', '=', mine.workspace_id)
      .execute();
  const report: RevocationReport = {
    ways: new Map(
      endings.flatMap(({ name, from }) =>
        from.map((caller): [string, Refusals] => [
          wayOf(name, caller),
          { call: [], events: [], tail: [], ...(caller === 'session' && { port: [] }) },
        ]),
      ),
    ),
    wrong: [],
  };
  for (let time = 0; time < times; time += 1) {
    for (const ending of endings)
      for (const caller of ending.from) {
        const way = wayOf(ending.name, caller);
        try {
          await takeAway(app, person, container, caller, ending, report.ways.get(way)!);
        } catch (error) {
          report.wrong.push(`${way}: ${String(error)}`);
        }
        await ending.undo?.();
      }
  }
  return report;
}

const wayOf = (name: string, caller: Caller): string => (caller === 'session' ? name : `${name}, by API token`);

async function takeAway(
  app: TestApp,
  person: Person,
  container: { id: number; place: PortTarget },
  caller: Caller,
  { end, keepsEvents }: Ending,
  refusals: Refusals,
): Promise<void> {
  const { ctx } = app;
  const tokens = await createSession(
    { ...ctx, ip: '127.0.0.1', userAgent: 'probe', language: 'en' },
    ctx.db,
    person.userId,
    'email',
  );
  const token = await anApiToken(ctx, person);
  const shown = caller === 'session' ? tokens.accessToken : token.token;
  const headers = { authorization: `Bearer ${shown}`, 'x-client-id': String(person.workspaceId) };
  const ticket = async (): Promise<string> => {
    const { status, body } = await app.post(api.auth.streamTicket.path, {}, headers);
    if (status !== 200) throw new Error(`no ticket: ${status}`);
    return (body as { ticket: string }).ticket;
  };
  const isAllowed = async (): Promise<boolean> =>
    (await app.post(api.containers.list.path, {}, headers)).status === 200;
  // What the round before took away is given back by now, and known to be at most a moment later.
  await until('access before it is taken away', isAllowed);
  const events = await openEvents(app.url, await ticket());
  const tail = await openTail(app.url, await ticket(), container.id);
  const pass =
    refusals.port &&
    (await signPass(ctx, {
      place: container.place,
      containerId: container.id,
      userId: person.userId,
      sessionId: sessionOf(tokens.accessToken),
    }));
  const isLetIn = async (): Promise<boolean> =>
    pass !== undefined && (await visitPort(app, container.place, pass)) === STATUS.away;
  if (pass && !(await isLetIn()))
    throw new Error(`not let in to begin with: ${await visitPort(app, container.place, pass)}`);

  const since = performance.now();
  const took = async (over: Promise<unknown>, into: number[]): Promise<void> => {
    await within(over);
    into.push(performance.now() - since);
  };
  const overOnce = async (isGoing: () => Promise<boolean>): Promise<void> => {
    while (await isGoing())
      if (performance.now() - since > PATIENCE_MS) return;
      else await pause(5);
  };
  const others = [end(tokens, token.id), took(overOnce(isAllowed), refusals.call), took(tail.ended, refusals.tail)];
  if (refusals.port) others.push(took(overOnce(isLetIn), refusals.port));
  if (!keepsEvents) await Promise.all([...others, took(events.ended, refusals.events)]);
  else {
    const lastAt = await lastHint(ctx, person.workspaceId, events, Promise.all(others));
    refusals.events.push(Math.max(0, lastAt - since));
  }
}

/**
 * The status of a request to the host of a port with this cookie. No daemon holds the container: an accepted cookie is
 * told so.
 */
function visitPort({ url, ctx }: TestApp, place: PortTarget, pass: string): Promise<number> {
  const domain = ctx.config.appsDomain;
  if (!domain) throw new Error('ports have no domain');
  const headers = { host: hostOf(place, domain), cookie: `stagi-port=${pass}`, accept: 'application/json' };
  return new Promise((resolve, reject) => {
    request(url, { headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

/** Publishes changes of the container until `over` settles, and returns when the stream last delivered one. */
async function lastHint(
  { bus }: TestApp['ctx'],
  workspaceId: number,
  events: Events,
  over: Promise<unknown>,
): Promise<number> {
  let isOver = false;
  const stop = (): void => {
    isOver = true;
  };
  void over.then(stop, stop);
  while (!isOver) {
    bus.publish('changed', { workspaceId, entity: 'docker-container', id: 1 });
    await pause(5);
  }
  await over;
  // An event for any member is delivered after all events that were sent before it.
  bus.publish('changed', { workspaceId, entity: 'client', id: workspaceId });
  await until('the stream goes on', async () => events.receivedAt('client') > 0);
  const lastAt = events.receivedAt('docker-container');
  if (lastAt === 0) throw new Error('the stream told nothing while it should have');
  await events.leave();
  return lastAt;
}

/** Waits for the end of a stream, but not for ever: a stream that never ends is a finding of the run. */
async function within(over: Promise<unknown>): Promise<void> {
  const giveUp = new AbortController();
  await Promise.race([over, pause(PATIENCE_MS, null, { signal: giveUp.signal })]);
  giveUp.abort();
}

interface Events {
  ended: Promise<unknown>;
  /** When it last delivered an event of this kind; 0 for never. */
  receivedAt(entity: string): number;
  leave(): Promise<void>;
}

async function openEvents(url: string, ticket: string): Promise<Events> {
  const heard = new Map<string, number>();
  const { closed, leave } = await openEventStream(url, ticket, (message) => {
    if (message.type === 'changed') heard.set(message.entity, performance.now());
  });
  return { ended: closed, receivedAt: (entity) => heard.get(entity) ?? 0, leave };
}

async function openTail(url: string, ticket: string, id: number): Promise<{ ended: Promise<void> }> {
  const question = new URLSearchParams({ ticket, type: 'docker-container', id: String(id) });
  const socket = new WebSocket(`${url.replace('http', 'ws')}/frontend-api/logging/tail?${question}`);
  const ended = new Promise<void>((resolve) => socket.addEventListener('close', () => resolve()));
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('the log tail did not open')));
  });
  return { ended };
}
