import { api } from '@stagi/contract/api.ts';
import type { Tokens } from '@stagi/contract/apiClient.ts';
import { STREAM_CLOSE } from '@stagi/contract/streams.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deviceOf } from '../http/userAgent.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { eventsOf } from '../testing/eventStream.ts';
import { markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { storedMails } from '../testing/storedMails.ts';
import { FIREFOX, sidOf, signInAs } from './testing/signIn.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

const statusWith = async ({ accessToken }: Tokens): Promise<number> =>
  (await app.post('user/profile', {}, { authorization: `Bearer ${accessToken}` })).status;

const refresh = (refreshToken: string) => app.post('auth/exchange-refresh-token', { refreshToken });

const listOf = async (person: Person) =>
  (await person.client(api.sessions.list, { entityFilterRequest: { orderByField: 'createdAt' } })).entities;

describe('the list of sessions', () => {
  it('shows device, address, sign-in method and last use, and marks the current one', async () => {
    const person = await app.signUp();
    await signInAs(app, person, IPHONE);
    await signInAs(app, person, FIREFOX);
    await signInAs(app, person, '');
    const sessions = await listOf(person);
    expect(sessions.map(({ device }) => device)).toEqual([
      { browser: null, os: null, kind: 'other' },
      { browser: 'Firefox 140', os: 'Linux', kind: 'desktop' },
      { browser: 'Safari 18', os: 'iOS', kind: 'mobile' },
      expect.objectContaining({ kind: 'other' }),
    ]);
    expect(sessions.map(({ current }) => current)).toEqual([false, false, false, true]);
    for (const session of sessions) {
      expect(session).toMatchObject({ ip: '127.0.0.1', authType: 'email' });
      expect(Date.parse(session.lastUsedAt)).toBeGreaterThanOrEqual(Date.parse(session.createdAt) - 1000);
    }
    const byUse = await person.client(api.sessions.list, { entityFilterRequest: { orderByField: 'lastUsedAt' } });
    expect(byUse.entities.map(({ current }) => current)).toEqual([true, false, false, false]);
    expect(JSON.stringify(sessions)).not.toContain(person.tokens().refreshToken);
  });

  it('updates last use, device and address with each refresh', async () => {
    const person = await app.signUp();
    const phone = await signInAs(app, person, IPHONE);
    await sql`update session set last_used_at = now() - interval '1 day', ip = '192.0.2.1' where user_id = ${person.userId}`.execute(
      app.ctx.db,
    );
    await app.post('auth/exchange-refresh-token', { refreshToken: phone.refreshToken }, { 'user-agent': FIREFOX });
    const [renewed] = await listOf(person);
    expect(renewed).toMatchObject({ ip: '127.0.0.1', device: { browser: 'Firefox 140' } });
    expect(Date.parse(renewed!.lastUsedAt)).toBeGreaterThan(Date.now() - 3_600_000);
  });

  it('keeps the name that a browser gives itself as one line of what can be seen', async () => {
    const person = await app.signUp();
    const { accessToken } = await signInAs(app, person, `Evil\u009b31m\tbrowser ${'x'.repeat(400)}`);
    const { rows } = await sql<{ user_agent: string }>`select user_agent from session
      where id = ${sidOf(accessToken)}`.execute(app.ctx.db);
    expect(rows).toEqual([{ user_agent: `Evil31m browser ${'x'.repeat(283)}…` }]);
  });

  it('leaves out revoked, idle and expired sessions, and pages the rest', async () => {
    const person = await app.signUp();
    for (const change of [
      sql`revoked_at = now(), revoked_reason = 'test'`,
      sql`expires_at = now() - interval '1 second'`,
    ]) {
      const { accessToken } = await signInAs(app, person, FIREFOX);
      await sql`update session set ${change} where id = ${sidOf(accessToken)}`.execute(app.ctx.db);
    }
    const idle = await signInAs(app, person, FIREFOX);
    await sql`update refresh_token set expires_at = now() - interval '1 second' where session_id = ${sidOf(idle.accessToken)}`.execute(
      app.ctx.db,
    );
    await signInAs(app, person, FIREFOX);
    expect(await listOf(person)).toHaveLength(2);
    const page = await person.client(api.sessions.list, { entityFilterRequest: { limit: 1, page: 2 } });
    expect(page).toMatchObject({ totalCount: 2, totalPages: 2, entities: [{ current: true }] });
    expect(
      (await person.client(api.sessions.list, { entityFilterRequest: { queryString: 'firefox' } })).totalCount,
    ).toBe(1);
  });

  it.each(['x', '(((((', 'a'.repeat(300), `Mozilla/5.0 (${';'.repeat(280)}`, '\u0000'])(
    'reads %j without a fuss',
    (userAgent) => {
      expect(deviceOf(userAgent).kind).toBeTypeOf('string');
    },
  );
});

describe('revoking sessions', () => {
  it('revokes one: its calls and its refresh are refused, the others stay', async () => {
    const person = await app.signUp();
    const phone = await signInAs(app, person, IPHONE);
    const laptop = await signInAs(app, person, FIREFOX);
    const unasked = await app.post('auth/session/revoke', { id: sidOf(phone.accessToken) }, bearerOf(person.tokens()));
    expect(unasked).toMatchObject({ status: 403, body: { code: 'step-up' } });
    expect(await statusWith(phone)).toBe(200);
    await markSteppedUp(app.ctx, person);
    expect(await person.client(api.sessions.revoke, { id: sidOf(phone.accessToken) })).toMatchObject({ ended: 1 });
    expect(await statusWith(phone)).toBe(401);
    expect((await refresh(phone.refreshToken)).status).toBe(401);
    expect(await statusWith(laptop)).toBe(200);
    const again = await app.post('auth/session/revoke', { id: sidOf(phone.accessToken) }, bearerOf(laptop));
    expect(again).toMatchObject({ status: 200, body: { ended: 0 } });
  });

  it('revokes all others, never the current one nor somebody else’s', async () => {
    const person = await app.signUp();
    const stranger = await app.signUp();
    const others = [await signInAs(app, person, IPHONE), await signInAs(app, person, FIREFOX)];
    await markSteppedUp(app.ctx, person);
    expect(await person.client(api.sessions.revoke, { others: true })).toMatchObject({ ended: 2 });
    for (const tokens of others) {
      expect(await statusWith(tokens)).toBe(401);
      expect((await refresh(tokens.refreshToken)).status).toBe(401);
    }
    expect(await statusWith(person.tokens())).toBe(200);
    expect(await statusWith(stranger.tokens())).toBe(200);
    expect(await person.client(api.sessions.revoke, { others: true })).toMatchObject({ ended: 0 });
  });

  it('accepts one id or all others, and nothing else', async () => {
    const person = await app.signUp();
    const authorization = `Bearer ${person.tokens().accessToken}`;
    for (const input of [{}, { id: 'x' }, { others: false }, { id: sidOf(person.tokens().accessToken), others: true }])
      expect((await app.post('auth/session/revoke', input, { authorization })).status, JSON.stringify(input)).toBe(400);
    expect(await statusWith(person.tokens())).toBe(200);
  });
});

const bearerOf = ({ accessToken }: { accessToken: string }) => ({ authorization: `Bearer ${accessToken}` });

describe('a refresh token', () => {
  it('expires after 14 idle days, and with its session after 90 days', async () => {
    const person = await app.signUp();
    const idle = await signInAs(app, person, FIREFOX);
    await sql`update refresh_token set expires_at = expires_at - interval '14 days' where session_id = ${sidOf(idle.accessToken)}`.execute(
      app.ctx.db,
    );
    expect((await refresh(idle.refreshToken)).status).toBe(401);
    const old = await signInAs(app, person, FIREFOX);
    await sql`update session set expires_at = expires_at - interval '90 days' where id = ${sidOf(old.accessToken)}`.execute(
      app.ctx.db,
    );
    expect((await refresh(old.refreshToken)).status).toBe(401);
    expect(await statusWith(old)).toBe(401);
  });

  it('reused revokes its session only, with the reason, and its owner is notified once', async () => {
    const person = await app.signUp();
    const stolen = await signInAs(app, person, FIREFOX);
    const thief = (await refresh(stolen.refreshToken)).body as Tokens;
    const thiefLater = (await refresh(thief.refreshToken)).body as Tokens;
    for (let time = 0; time < 3; time += 1) expect((await refresh(stolen.refreshToken)).status).toBe(401);
    expect(await statusWith(thiefLater)).toBe(401);
    expect((await refresh(thiefLater.refreshToken)).status).toBe(401);
    expect(await statusWith(person.tokens())).toBe(200);
    const { revoked_reason } = await app.ctx.db
      .selectFrom('session')
      .select('revoked_reason')
      .where('id', '=', sidOf(stolen.accessToken))
      .executeTakeFirstOrThrow();
    expect(revoked_reason).toBe('refresh token reused');
    const told = (await storedMails(app.ctx, person.email)).filter(({ text }) => text.includes('/account/sessions'));
    expect(told).toHaveLength(1);
  });

  it('reused gets no successor once that was used, not even within ten seconds', async () => {
    const person = await app.signUp();
    const first = person.tokens().refreshToken;
    const second = (await refresh(first)).body as Tokens;
    expect(((await refresh(first)).body as Tokens).refreshToken).toBe(second.refreshToken);
    await refresh(second.refreshToken);
    expect((await refresh(first)).status).toBe(401);
    expect((await refresh(second.refreshToken)).status).toBe(401);
  });

  it('made up with a known id revokes nothing', async () => {
    const person = await app.signUp();
    const { refreshToken } = person.tokens();
    const [id] = refreshToken.split('.');
    for (const guess of [`${id}.`, `${id}.${'A'.repeat(43)}`, id!, `${refreshToken}x`])
      expect((await refresh(guess)).status, guess).toBe(401);
    expect((await refresh(refreshToken)).status).toBe(200);
  });
});

describe('open streams', () => {
  it('are rechecked when a message of the database may have been missed', async () => {
    const person = await app.signUp();
    const events = await eventsOf(app.url, person);
    // Without the trigger nothing is announced, as in a restored database.
    await sql`alter table session disable trigger session_ends`.execute(app.ctx.db);
    await sql`update session set revoked_at = now() where user_id = ${person.userId}`.execute(app.ctx.db);
    await sql`alter table session enable trigger session_ends`.execute(app.ctx.db);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'stagi-listen' and datname = current_database()`.execute(
      app.ctx.db,
    );
    expect(await events.closed).toBe(STREAM_CLOSE.signedOut);
  });
});
