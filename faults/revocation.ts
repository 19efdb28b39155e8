import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import type { Tokens } from '@stagi/contract/client.ts';
import { openSession } from '@stagi/server/src/auth/sessions.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { aContainer, aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { sessionOf } from './refresh.ts';

const PATIENCE_MS = 60_000;

export interface RevocationReport {
  /** From the word that ends it to the first refused call, the end of the event stream, and of the log's. */
  callMs: number[];
  eventsMs: number[];
  tailMs: number[];
  wrong: string[];
}

interface Ending {
  name: string;
  end(tokens: Tokens): Promise<unknown>;
  /** As it was before, for the next time. */
  undo?(): Promise<unknown>;
}

/** Takes somebody's access away in every way there is, `times` times each, while they call and follow streams. */
export async function runRevocations(app: TestApp, person: Person, times: number): Promise<RevocationReport> {
  const { db } = app.ctx;
  const mine = { user_id: person.userId, workspace_id: person.workspaceId };
  const container = await aContainer(app.ctx, person, await aRentedInstance(app.ctx, person));
  const endings: Ending[] = [
    {
      name: 'ended in the list',
      end: ({ accessToken }) => person.client(api.sessions.revoke, { id: sessionOf(accessToken) }),
    },
    { name: 'logged out', end: ({ refreshToken }) => app.anonymous(api.auth.logout, { refreshToken }) },
    {
      name: 'disabled',
      end: () => db.updateTable('app_user').set({ disabled_at: new Date() }).where('id', '=', mine.user_id).execute(),
      undo: () => db.updateTable('app_user').set({ disabled_at: null }).where('id', '=', mine.user_id).execute(),
    },
    {
      name: 'removed from the workspace',
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
          .execute(),
    },
  ];
  const report: RevocationReport = { callMs: [], eventsMs: [], tailMs: [], wrong: [] };
  for (let time = 0; time < times; time += 1) {
    for (const { name, end, undo } of endings) {
      try {
        await takeAway(app, person, container, end, report);
      } catch (error) {
        report.wrong.push(`${name}: ${String(error)}`);
      }
      await undo?.();
    }
  }
  return report;
}

async function takeAway(
  app: TestApp,
  person: Person,
  container: number,
  end: Ending['end'],
  report: RevocationReport,
): Promise<void> {
  const { ctx } = app;
  const tokens = await openSession(
    { ...ctx, ip: '127.0.0.1', userAgent: 'probe', language: 'en' },
    ctx.db,
    person.userId,
    'email',
  );
  const headers = { authorization: `Bearer ${tokens.accessToken}`, 'x-client-id': String(person.workspaceId) };
  const ticket = async (): Promise<string> => {
    const { status, body } = await app.post(api.auth.streamTicket.path, {}, headers);
    if (status !== 200) throw new Error(`no ticket: ${status}`);
    return (body as { ticket: string }).ticket;
  };
  const events = await openEvents(app.url, await ticket());
  const tail = await openTail(app.url, await ticket(), container);
  if ((await app.post(api.billing.balance.path, {}, headers)).status !== 200) throw new Error('refused too early');

  const since = performance.now();
  const took = async (over: Promise<unknown>, into: number[]): Promise<void> => {
    await within(over);
    into.push(performance.now() - since);
  };
  const refused = async (): Promise<void> => {
    while ((await app.post(api.billing.balance.path, {}, headers)).status === 200)
      if (performance.now() - since > PATIENCE_MS) return;
      else await pause(5);
  };
  await Promise.all([
    end(tokens),
    took(refused(), report.callMs),
    took(events.ended, report.eventsMs),
    took(tail.ended, report.tailMs),
  ]);
}

/** Streams that never end are what the run would find: it does not wait for them for ever. */
async function within(over: Promise<unknown>): Promise<void> {
  const giveUp = new AbortController();
  await Promise.race([over, pause(PATIENCE_MS, null, { signal: giveUp.signal })]);
  giveUp.abort();
}

/** Opens it; `ended` resolves with its end. */
async function openEvents(url: string, ticket: string): Promise<{ ended: Promise<void> }> {
  const response = await fetch(`${url}/frontend-api/events?ticket=${ticket}`);
  const reader = response.body!.getReader();
  await reader.read();
  const toItsEnd = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  return { ended: toItsEnd() };
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
