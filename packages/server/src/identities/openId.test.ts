import { api } from '@stagi/contract/api.ts';
import { createClient, type Tokens } from '@stagi/contract/apiClient.ts';
import type { SignInResponse } from '@stagi/contract/authResponse.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aPasskey, makeOperator, markSteppedUp } from '../testing/factories.ts';
import { type IdentityProviderServer, startIdentityProvider } from '../testing/identityProvider.ts';
import { httpSender, mailsTo, PASSWORD, tokensOf } from '../testing/person.ts';
import { refusal } from '../testing/refusal.ts';
import { FORGER_CLIENT, type ForgingProvider, startForgingProvider } from './testing/forgingProvider.ts';

const OFF = 'Nobody logs in with a password here. Choose another way to log in.';

let lab: IdentityProviderServer;
let guild: IdentityProviderServer;
let forger: ForgingProvider;
let app: TestApp;
let people = 0;

beforeAll(async () => {
  lab = await startIdentityProvider();
  guild = await startIdentityProvider({ profileIn: 'token' });
  forger = await startForgingProvider();
  app = await startTestApp({
    OPENID_PROVIDERS: JSON.stringify([
      lab.openId('lab', 'Lab login'),
      { ...guild.openId('guild', 'Guild'), trustEmail: true },
      { id: 'forger', name: 'Forger', issuer: forger.issuer, clientId: FORGER_CLIENT },
      { id: 'away', name: 'Nobody there', issuer: 'http://127.0.0.1:1', clientId: 'x' },
    ]),
  });
  for (const provider of [lab, guild]) provider.open(app.ctx.config.appOrigin);
});
afterAll(async () => {
  await app?.close();
  for (const provider of [lab, guild, forger]) await provider?.close();
});

type Given = { email?: string; emailVerified?: boolean | null; name?: string };

function anAccount(at: IdentityProviderServer, given: Given = {}) {
  people += 1;
  const login = `login-${people}`;
  const email = given.email ?? `${login}-${Date.now()}@example.com`;
  at.accounts.set(login, { id: people, ...given, email });
  return { login, email };
}

/** A visitor with the callback in hand. */
async function callback(provider: 'lab' | 'guild', login: string, at = app) {
  const { link, state } = await at.anonymous(api.identities.openIdLink, { provider });
  const back = await (provider === 'lab' ? lab : guild).logIn(link, login);
  expect(back.pathname).toBe('/auth/openid');
  return returnedBy(provider, back, state);
}

function returnedBy(provider: string, back: URL, state: string) {
  const { searchParams: returned } = back;
  return { provider, code: returned.get('code') ?? '', state, iss: returned.get('iss') ?? undefined };
}

const signInBy = async (provider: 'lab' | 'guild', login: string, at = app) =>
  clientWith(await at.anonymous(api.identities.validateOpenId, await callback(provider, login, at)), at);

function clientWith(given: SignInResponse, at = app) {
  let tokens: Tokens = tokensOf(given);
  return createClient({
    send: httpSender(at.url),
    session: { get: () => tokens, set: (next) => (tokens = next) },
    clientId: () => null,
  });
}

describe('logging in with a provider of the operator', () => {
  it.each([
    ['lab', 'asked for'],
    ['guild', 'in the token'],
  ] as const)('makes an account by %s, whose profile is %s, and finds it again', async (by, _where) => {
    const { login, email } = anAccount(by === 'lab' ? lab : guild, { name: 'Grace Hopper' });
    const first = await signInBy(by, login);
    const { userProfile } = await first(api.user.profile, {});
    expect(userProfile).toMatchObject({ email, name: 'Grace Hopper', isPasswordExist: false });
    const { entities } = await first(api.sessions.list, {});
    expect(entities.map(({ authType }) => authType)).toEqual([by]);
    const again = await (await signInBy(by, login))(api.user.profile, {});
    expect(again.userProfile.userId).toBe(userProfile.userId);
    expect(await first(api.identities.list, {})).toMatchObject({
      identities: [{ provider: by, email }],
      onlyWayIn: true,
    });
  });

  it('names them in the configuration of the site, without their secrets', async () => {
    const text = await (await fetch(`${app.url}/configuration.json`)).text();
    expect(JSON.parse(text).openIdProviders).toEqual([
      { id: 'lab', name: 'Lab login' },
      { id: 'guild', name: 'Guild' },
      { id: 'forger', name: 'Forger' },
      { id: 'away', name: 'Nobody there' },
    ]);
    expect(text).not.toContain(String(lab.openId('lab', '').clientSecret));
  });

  it('links an account of the same confirmed address, notifies its owner by the name, and refuses an unconfirmed one', async () => {
    const person = await app.signUp();
    const { login } = anAccount(lab, { email: person.email });
    const { userProfile } = await (await signInBy('lab', login))(api.user.profile, {});
    expect(userProfile.userId).toBe(person.userId);
    expect((await mailsTo(app.url, person.email)).some(({ text }) => text.includes('Lab login'))).toBe(true);

    const victim = await app.signUp();
    for (const [by, emailVerified] of [
      ['lab', false],
      ['lab', null],
      ['guild', false],
    ] as const) {
      const thief = anAccount(by === 'lab' ? lab : guild, { email: victim.email, emailVerified });
      expect((await refusal(signInBy(by, thief.login))).message).toMatch(/account has no confirmed email/);
    }
    expect((await victim.client(api.identities.list, {})).identities).toEqual([]);
  });

  it('takes an address as confirmed where the provider says nothing of it and the operator trusts it', async () => {
    const person = await app.signUp();
    const { login } = anAccount(guild, { email: person.email, emailVerified: null });
    expect((await (await signInBy('guild', login))(api.user.profile, {})).userProfile.userId).toBe(person.userId);
  });

  it('connects a second one and disconnects it, never the only way in', async () => {
    const mine = anAccount(lab);
    const client = await signInBy('lab', mine.login);
    const { userProfile } = await client(api.user.profile, {});
    const stepUp = () => markSteppedUp(app.ctx, { userId: userProfile.userId } as never);
    await stepUp();
    const other = anAccount(guild);
    const { link, state } = await client(api.identities.begin, { provider: 'guild' });
    const back = returnedBy('guild', await guild.logIn(link, other.login), state);
    // In no other session, and as no login.
    await refusal(app.anonymous(api.identities.validateOpenId, back));
    const again = await client(api.identities.begin, { provider: 'guild' });
    const good = returnedBy('guild', await guild.logIn(again.link, other.login), again.state);
    await client(api.identities.connect, good);
    expect((await client(api.identities.list, {})).identities.map(({ provider }) => provider)).toEqual([
      'guild',
      'lab',
    ]);
    await client(api.identities.disconnect, { provider: 'guild' });
    const error = await refusal(client(api.identities.disconnect, { provider: 'lab' }));
    expect(error.message).toMatch(/only way to log in/);
  });

  it('says which one does not answer, and which is not there', async () => {
    const away = await refusal(app.anonymous(api.identities.openIdLink, { provider: 'away' }));
    expect(away.message).toBe('Nobody there is not responding. Try again, or log in another way.');
    const gone = await refusal(app.anonymous(api.identities.openIdLink, { provider: 'gone' }));
    expect(gone.message).toBe('Logging in with gone is not set up here');
    await refusal(app.anonymous(api.identities.openIdLink, { provider: 'google' }));
  });

  it('an issuer that moved finds its people by their confirmed address; one taken away is no way in', async () => {
    const { login, email } = anAccount(lab);
    const client = await signInBy('lab', login);
    const { userId } = (await client(api.user.profile, {})).userProfile;
    await app.ctx.db
      .updateTable('external_identity')
      .set({ issuer: 'https://old.example' })
      .where('user_id', '=', userId)
      .execute();
    await app.ctx.db
      .insertInto('external_identity')
      .values({ provider: 'gone', issuer: 'https://gone.example', subject: login, email, user_id: userId })
      .execute();
    const moved = await signInBy('lab', login);
    expect((await moved(api.user.profile, {})).userProfile.userId).toBe(userId);
    expect(await moved(api.identities.list, {})).toMatchObject({ onlyWayIn: true });
    await markSteppedUp(app.ctx, { userId } as never);
    await moved(api.identities.disconnect, { provider: 'gone' });
    expect((await moved(api.identities.list, {})).identities).toMatchObject([{ provider: 'lab', isOnlyWayIn: true }]);
    // Another login now is the only way: the former issuer's identity lets nobody in.
    await app.ctx.db
      .updateTable('external_identity')
      .set({ issuer: 'https://old.example' })
      .where('user_id', '=', userId)
      .execute();
    await signInBy('guild', anAccount(guild, { email }).login);
    const ways = (await moved(api.identities.list, {})).identities.map((one) => [one.provider, one.isOnlyWayIn]);
    expect(ways).toEqual([
      ['guild', true],
      ['lab', false],
    ]);
  });

  it('names the field of an answer that is wrong', async () => {
    const person = await app.signUp();
    const authorization = `Bearer ${person.tokens().accessToken}`;
    const answers = [
      [{ provider: 'lab', code: '' }, ['code']],
      [{ provider: 'github' }, ['code']],
      [{ provider: 'google', code: 'c' }, ['token']],
    ] as const;
    for (const [returned, fieldsWithError] of answers)
      expect(await app.post(api.identities.connect.path, { ...returned, state: 's' }, { authorization })).toMatchObject(
        { status: 400, body: { fieldsWithError } },
      );
  });
});

describe('a forged or replayed callback of a code is refused', () => {
  it('a foreign state, a used code, a code of somebody else, an answer of another provider', async () => {
    const mine = await callback('lab', anAccount(lab).login);
    const fresh = async () => (await app.anonymous(api.identities.openIdLink, { provider: 'lab' })).state;
    const ofGuild = await callback('guild', anAccount(guild).login);
    const attempts = [
      { ...mine, state: 'x'.repeat(43) },
      // Injection: the victim's code with a state of one's own. Its verifier is another.
      { ...mine, state: await fresh() },
      { ...mine, code: 'made-up', state: await fresh() },
      // Mix-up: the code of one provider shown to the other.
      { ...ofGuild, provider: 'lab' },
      { ...ofGuild, provider: 'lab', state: await fresh() },
      { ...(await callback('lab', anAccount(lab).login)), iss: guild.issuer },
      { ...(await callback('lab', anAccount(lab).login)), iss: undefined },
    ];
    for (const attempt of attempts)
      expect((await refusal(app.anonymous(api.identities.validateOpenId, attempt))).status).toBe(200);
    const good = await callback('lab', anAccount(lab).login);
    await app.anonymous(api.identities.validateOpenId, good);
    await refusal(app.anonymous(api.identities.validateOpenId, good));
    console.log(`forged returns of a code refused: n = ${attempts.length + 1}`);
  });

  const now = () => Math.floor(Date.now() / 1000);
  const FORGERIES: [name: string, claims: Record<string, unknown>, key?: 'own' | 'other' | 'none'][] = [
    ['another nonce', { nonce: 'x'.repeat(43) }],
    ['no nonce', { nonce: undefined }],
    ['another audience', { aud: 'somebody-else' }],
    ['two audiences, asked for by the other', { aud: [FORGER_CLIENT, 'x'], azp: 'x' }],
    ['another issuer', { iss: 'https://accounts.evil.example' }],
    ['an end in the past', { iat: now() - 900, exp: now() - 300 }],
    ['no end', { exp: undefined }],
    ['no subject', { sub: undefined }],
    ['the key of somebody else', {}, 'other'],
    ['no signature', {}, 'none'],
  ];

  async function answered(claims: Record<string, unknown>, key?: 'own' | 'other' | 'none') {
    const { link, state } = await app.anonymous(api.identities.openIdLink, { provider: 'forger' });
    const good = {
      iss: forger.issuer,
      aud: FORGER_CLIENT,
      sub: 'victim',
      email: 'victim@example.com',
      email_verified: true,
      iat: now(),
      exp: now() + 300,
      nonce: new URL(link).searchParams.get('nonce'),
    };
    forger.answer = { claims: { ...good, ...claims }, ...(key && { key }) };
    return app.anonymous(api.identities.validateOpenId, { provider: 'forger', code: 'c', state, iss: forger.issuer });
  }

  it.each(FORGERIES)('a token with %s', async (_name, claims, key) => {
    expect((await refusal(answered(claims, key))).message).toBe('Forger did not confirm this login. Try again.');
  });

  it('the same token without the forgery is accepted', async () => {
    await answered({});
    console.log(`forged tokens refused: n = ${FORGERIES.length}`);
  });
});

describe('where passwords are switched off', () => {
  let strict: TestApp;
  beforeAll(async () => {
    const env = { PASSWORD_SIGN_IN: 'off', OPENID_PROVIDERS: JSON.stringify([lab.openId('lab', 'Lab login')]) };
    strict = await startTestApp({ ...env, APP_ORIGIN: app.ctx.config.appOrigin });
  });
  afterAll(() => strict?.close());

  it('every call about them is refused', async () => {
    const person = await strict.signUp();
    await markSteppedUp(strict.ctx, person);
    const { email } = person;
    const code = '12345678';
    const calls = [
      () => strict.anonymous(api.auth.register, { name: 'Eve', email: 'eve@example.com', password: PASSWORD }),
      () => strict.anonymous(api.auth.verifyCode, { email, code }),
      () => strict.anonymous(api.auth.resendCode, { email }),
      () => strict.anonymous(api.auth.authentication, { email, password: PASSWORD }),
      () => strict.anonymous(api.auth.resetPasswordCode, { email }),
      () => strict.anonymous(api.auth.resetPassword, { email, code, newPassword: PASSWORD }),
      () => person.client(api.auth.changePassword, { currentPassword: PASSWORD, newPassword: `${PASSWORD}x` }),
      () => person.client(api.user.addPassword, { password: PASSWORD }),
    ];
    for (const call of calls) expect((await refusal(call())).message).toBe(OFF);
    console.log(`calls about passwords refused: n = ${calls.length}`);
    expect(await (await fetch(`${strict.url}/configuration.json`)).json()).toMatchObject({ isPasswordOff: true });
  });

  it('the provider lets in, asks for the second factor, and is the only way in beside a password', async () => {
    const person = await strict.signUp();
    const { login } = anAccount(lab, { email: person.email });
    const client = await signInBy('lab', login, strict);
    await markSteppedUp(strict.ctx, person);
    expect(await client(api.identities.list, {})).toMatchObject({ onlyWayIn: true });
    await refusal(client(api.identities.disconnect, { provider: 'lab' }));
    // The session steps up by a mailed code, as without a second factor everywhere.
    expect((await client(api.secondFactor.stepUpBegin, {})).mailed).toMatchObject({ to: person.email });
    await aPasskey(strict.ctx, person);
    const mails = await mailsTo(strict.url, person.email);
    expect(mails.some(({ subject }) => /Lab login/.test(subject))).toBe(true);
    for (const { text } of mails) expect(text).not.toMatch(/\/recovery|password/i);
    const answer = await strict.anonymous(api.identities.validateOpenId, await callback('lab', login, strict));
    expect(answer).toMatchObject({ secondFactor: { methods: expect.arrayContaining(['passkey']) } });
  });

  it('operators see the ids of the ways in', async () => {
    const olga = await strict.signUp('Olga');
    await makeOperator(strict.ctx, olga);
    const { login } = anAccount(lab, { email: olga.email });
    await signInBy('lab', login, strict);
    const { entity } = await olga.client(api.adminUsers.view, { id: olga.userId });
    expect(entity.signedInBy).toEqual(['password', 'lab']);
  });
});
