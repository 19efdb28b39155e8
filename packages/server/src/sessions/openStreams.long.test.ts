import { api } from '@stagi/contract/api.ts';
import { STREAM_CLOSE } from '@stagi/contract/streams.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { eventsOf } from '../testing/eventStream.ts';
import { aContainer, aRentedInstance, markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { FIREFOX, sidOf, signInAs } from './testing/signIn.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());

const ENDS_WITHIN_MS = 2_000;

describe('open streams', () => {
  const { signedOut, workspaceGone } = STREAM_CLOSE;
  const ENDINGS: [string, number, (person: Person) => Promise<unknown>][] = [
    [
      'its session is ended in the list',
      signedOut,
      async (person) => {
        const other = await signInAs(app, person, FIREFOX);
        await markSteppedUp(app.ctx, person);
        const reply = await app.post(
          'auth/session/revoke',
          { id: sidOf(person.tokens().accessToken) },
          { authorization: `Bearer ${other.accessToken}` },
        );
        expect(reply.status).toBe(200);
      },
    ],
    [
      'somebody logs out',
      signedOut,
      (person) => app.anonymous(api.auth.logout, { refreshToken: person.tokens().refreshToken }),
    ],
    [
      'the account is disabled',
      signedOut,
      (person) =>
        app.ctx.db.updateTable('app_user').set({ disabled_at: new Date() }).where('id', '=', person.userId).execute(),
    ],
    [
      'the membership is removed',
      workspaceGone,
      (person) =>
        app.ctx.db
          .deleteFrom('membership')
          .where('user_id', '=', person.userId)
          .where('workspace_id', '=', person.workspaceId)
          .execute(),
    ],
    [
      'the workspace is disabled',
      workspaceGone,
      (person) =>
        app.ctx.db
          .updateTable('workspace')
          .set({ disabled_at: new Date() })
          .where('id', '=', person.workspaceId)
          .execute(),
    ],
  ];

  it.each(ENDINGS)('end within 2 s when %s', async (_, code, end) => {
    const person = await app.signUp();
    const container = await aContainer(app.ctx, person, await aRentedInstance(app.ctx, person));
    const events = await eventsOf(app.url, person);
    const tail = await openTail(person, container);
    const since = performance.now();
    await end(person);
    expect(await Promise.all([events.closed, tail.closed])).toEqual([code, code]);
    expect(performance.now() - since).toBeLessThan(ENDS_WITHIN_MS);
  });

  async function openTail(person: Person, container: number): Promise<{ closed: Promise<number> }> {
    const { ticket } = await person.client(api.auth.streamTicket, {});
    const socket = new WebSocket(
      `${app.url.replace('http', 'ws')}/frontend-api/logging/tail?ticket=${ticket}&type=docker-container&id=${container}`,
    );
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return { closed };
  }
});
