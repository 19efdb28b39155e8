import { api } from '@stagi/contract/api.ts';
import { createClient } from '@stagi/contract/apiClient.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { httpSender, mailedCode, PASSWORD, type Person, signUp, tokensOf } from '../testing/person.ts';
import { refusal } from '../testing/refusal.ts';
import { storedMails } from '../testing/storedMails.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());

const byMail = (name: string): Promise<Person> =>
  signUp(app.url, httpSender(app.url), { name, email: `${crypto.randomUUID()}@example.com` });

describe('sign-up', () => {
  it('mails a code, and the code creates a user with a workspace of their own and 50 STAGI', async () => {
    const ada = await byMail('Ada Lovelace');
    const { userProfile } = await ada.client(api.user.profile, {});
    expect(userProfile).toMatchObject({
      email: ada.email,
      name: 'Ada Lovelace',
      isPasswordExist: true,
      isSignupFormSubmitted: true,
    });
    expect(userProfile.clientRelations).toHaveLength(1);
    expect(userProfile.clientRelations[0]).toMatchObject({
      clientName: 'Ada Lovelace’s workspace',
      roleName: 'Owner',
      subscriptionPlan: 'Free',
    });
    expect(userProfile.clientRelations[0]?.permissions).not.toContain('EMPLOYEE');
    const balance = await ada.client(api.billing.balance, {});
    expect(balance).toMatchObject({
      clientBalance: { USD: { decimalValue: '50.00' }, STAGI: { decimalValue: '50.00' } },
      daysLeft: null,
      exhausted: false,
    });
  });

  it('refuses a weak password, a bad address and a missing name at their fields', async () => {
    const error = await refusal(app.anonymous(api.auth.register, { name: ' ', email: 'nobody', password: 'short' }));
    expect(error.status).toBe(400);
    expect(error.body?.fieldMessages).toEqual({
      name: 'Name is required',
      email: 'Incorrect email',
      password: 'Password must be at least 8 characters with digits and upper and lower case letters',
    });
  });

  it('answers the same for a known address, notifies its owner, and signs nobody in', async () => {
    const owner = await app.signUp();
    const known = await app.anonymous(api.auth.register, { name: 'Eve', email: owner.email, password: PASSWORD });
    const unknown = await app.anonymous(api.auth.register, {
      name: 'Eve',
      email: `new-${Date.now()}@example.com`,
      password: PASSWORD,
    });
    expect(Object.keys(known)).toEqual(Object.keys(unknown));
    const subjects = await subjectsTo(owner.email);
    expect(subjects[0]).toBe('You already have a Stagi account');
  });

  it('allows five tries, then refuses the right code too', async () => {
    const email = `tries-${Date.now()}@example.com`;
    const { flow } = await app.anonymous(api.auth.register, { name: 'T', email, password: PASSWORD });
    const code = await mailedCode(app.url, email);
    const wrong = code === '00000000' ? '00000001' : '00000000';
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const error = await refusal(app.anonymous(api.auth.verifyCode, { email, code: wrong, flow }));
      expect(error.body).toMatchObject({ message: 'Incorrect or expired code', fieldsWithError: ['code'] });
    }
    expect((await refusal(app.anonymous(api.auth.verifyCode, { email, code, flow }))).status).toBe(400);
  });

  it('refuses an expired code, and a used one', async () => {
    const email = `late-${Date.now()}@example.com`;
    const { flow } = await app.anonymous(api.auth.register, { name: 'L', email, password: PASSWORD });
    const code = await mailedCode(app.url, email);
    await app.ctx.db
      .updateTable('pending_registration')
      .set({ expires_at: sql<Date>`now() - interval '1 second'` })
      .where('email', '=', email)
      .execute();
    expect((await refusal(app.anonymous(api.auth.verifyCode, { email, code, flow }))).status).toBe(400);

    const other = await byMail('Other');
    const used = await mailedCode(app.url, other.email);
    expect((await refusal(app.anonymous(api.auth.verifyCode, { email: other.email, code: used }))).status).toBe(400);
  });

  it('does not complete one sign-up with the code of another for the same address', async () => {
    const email = `twice-${Date.now()}@example.com`;
    const mine = await app.anonymous(api.auth.register, { name: 'Me', email, password: PASSWORD });
    await app.anonymous(api.auth.register, { name: 'Attacker', email, password: 'Attackers-1-password' });
    const theirs = await mailedCode(app.url, email);
    expect((await refusal(app.anonymous(api.auth.verifyCode, { email, code: theirs, flow: mine.flow }))).status).toBe(
      400,
    );
  });

  it('sends another code only after a minute, and the new one works', async () => {
    const email = `again-${Date.now()}@example.com`;
    const { flow } = await app.anonymous(api.auth.register, { name: 'A', email, password: PASSWORD });
    const early = await refusal(app.anonymous(api.auth.resendCode, { email, flow }));
    expect(early.status).toBe(429);
    expect(early.retryAfter).toBeGreaterThan(50);
    await app.ctx.db
      .updateTable('pending_registration')
      .set({ sent_at: sql<Date>`now() - interval '61 seconds'` })
      .where('email', '=', email)
      .execute();
    await app.anonymous(api.auth.resendCode, { email, flow });
    await app.anonymous(api.auth.verifyCode, { email, flow, code: await mailedCode(app.url, email) });
  });
});

describe('sign-in', () => {
  it('accepts the right password untrimmed, and the address in any letter case', async () => {
    const person = await app.signUp();
    const answer = await app.anonymous(api.auth.authentication, {
      email: ` ${person.email.toUpperCase()} `,
      password: PASSWORD,
    });
    expect(tokensOf(answer).accessToken).toBeTruthy();
    expect(
      (await refusal(app.anonymous(api.auth.authentication, { email: person.email, password: `${PASSWORD} ` }))).status,
    ).toBe(400);
  });

  it('answers the same for a wrong password and an unknown address', async () => {
    const person = await app.signUp();
    const wrong = await refusal(
      app.anonymous(api.auth.authentication, { email: person.email, password: 'Wrong-pass-1' }),
    );
    const unknown = await refusal(
      app.anonymous(api.auth.authentication, { email: 'nobody@example.com', password: 'Wrong-pass-1' }),
    );
    expect(wrong.body?.message).toBe('Incorrect email or password');
    expect({ ...wrong.body, requestId: '' }).toEqual({ ...unknown.body, requestId: '' });
  });
});

describe('sessions', () => {
  const refresh = (token: string) => app.anonymous(api.auth.exchangeRefreshToken, { refreshToken: token });

  it('gives parallel refreshes of one token the same successor', async () => {
    const person = await app.signUp();
    const { refreshToken } = person.tokens();
    const pairs = await Promise.all(Array.from({ length: 6 }, () => refresh(refreshToken)));
    expect(new Set(pairs.map((pair) => pair.refreshToken)).size).toBe(1);
    await refresh(pairs[0]!.refreshToken);
  });

  it('revokes the whole session when a refresh token is reused late', async () => {
    const person = await app.signUp();
    const first = person.tokens().refreshToken;
    const second = await refresh(first);
    const third = await refresh(second.refreshToken);
    expect((await refusal(refresh(first))).status).toBe(401);
    expect((await refusal(refresh(third.refreshToken))).status).toBe(401);
    expect((await app.post('user/profile', {}, { authorization: `Bearer ${third.accessToken}` })).status).toBe(401);
  });

  it('gives no grace to the direct parent after ten seconds', async () => {
    const person = await app.signUp();
    const first = person.tokens().refreshToken;
    await refresh(first);
    await sql`update refresh_token set used_at = used_at - interval '11 seconds' where used_at is not null`.execute(
      app.ctx.db,
    );
    expect((await refusal(refresh(first))).status).toBe(401);
  });

  it('refreshes once for many calls with an expired access token, and retries them', async () => {
    const person = await app.signUp();
    const before = await tokenCount(person);
    const { client, current } = await withExpiredAccess(person);
    const answers = await Promise.all(Array.from({ length: 8 }, () => client(api.user.profile, {})));
    expect(answers.every((answer) => answer.userProfile.email === person.email)).toBe(true);
    expect(await tokenCount(person)).toBe(before + 1);
    expect(current().refreshToken).not.toBe(person.tokens().refreshToken);
  });

  it('ends at once after signing out, and signing out twice is harmless', async () => {
    const person = await app.signUp();
    const { accessToken, refreshToken } = person.tokens();
    await app.anonymous(api.auth.logout, { refreshToken });
    await app.anonymous(api.auth.logout, { refreshToken });
    expect((await app.post('user/profile', {}, { authorization: `Bearer ${accessToken}` })).status).toBe(401);
    expect((await refusal(refresh(refreshToken))).status).toBe(401);
  });

  it('ends at once when the account is disabled', async () => {
    const person = await app.signUp();
    await app.ctx.db.updateTable('app_user').set({ disabled_at: new Date() }).where('id', '=', person.userId).execute();
    expect((await refusal(person.client(api.user.profile, {}))).status).toBe(401);
  });

  async function withExpiredAccess(person: Person) {
    let tokens = { ...person.tokens(), accessToken: 'expired' };
    const client = createClient({
      send: httpSender(app.url),
      session: { get: () => tokens, set: (next) => (tokens = next) },
      clientId: () => null,
    });
    return { client, current: () => tokens };
  }

  async function tokenCount(person: Person): Promise<number> {
    const row = await app.ctx.db
      .selectFrom('refresh_token')
      .innerJoin('session', 'session.id', 'refresh_token.session_id')
      .where('session.user_id', '=', person.userId)
      .select(sql<bigint>`count(*)`.as('count'))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }
});

const subjectsTo = async (email: string) => (await storedMails(app.ctx, email)).map(({ subject }) => subject);
