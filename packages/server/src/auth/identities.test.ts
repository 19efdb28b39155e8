import { api } from '@stagi/contract/api.ts';
import type { EnterResponse } from '@stagi/contract/authResponse.ts';
import { createClient, type Tokens } from '@stagi/contract/client.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMail } from '../mail/sealed.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { anApiToken, anSshKey } from '../testing/factories.ts';
import {
  CLIENT_ID,
  type IdentityProviderServer,
  OTHER_CLIENT_ID,
  startIdentityProvider,
} from '../testing/identityProvider.ts';
import { mailedCode, PASSWORD, sender, tokensOf } from '../testing/person.ts';

let there: IdentityProviderServer;
let app: TestApp;
let people = 0;

beforeAll(async () => {
  there = await startIdentityProvider();
  app = await startTestApp(there.env);
  there.open(app.ctx.config.appOrigin);
});
afterAll(async () => {
  await app?.close();
  await there?.close();
});

describe('logging in with Google or GitHub', () => {
  it.each(['google', 'github'] as const)(
    'makes an account by %s the first time, and finds it the second',
    async (by) => {
      const { login, email } = anAccount({ name: 'Grace Hopper' });
      const first = await comeBy(by, login);
      const { userProfile } = await first(api.user.profile, {});
      expect(userProfile).toMatchObject({ email, name: 'Grace Hopper', isPasswordExist: false });
      expect(userProfile.isSignupFormSubmitted).toBe(false);
      expect(userProfile.clientRelations).toMatchObject([
        { clientName: 'Grace Hopper’s workspace', roleName: 'Owner' },
      ]);
      const { entities } = await first(api.sessions.list, {});
      expect(entities.map(({ authType }) => authType)).toEqual([by]);

      const again = await (await comeBy(by, login))(api.user.profile, {});
      expect(again.userProfile.userId).toBe(userProfile.userId);
      const { identities } = await first(api.identities.list, {});
      expect(identities).toMatchObject([{ provider: by, email }]);
    },
  );

  it('joins both, and a sign-up by mail, where all know the address to be theirs, and tells the owner', async () => {
    const person = await app.signUp();
    const { login } = anAccount({ email: person.email });
    for (const by of ['google', 'github'] as const) {
      const { userProfile } = await (await comeBy(by, login))(api.user.profile, {});
      expect(userProfile).toMatchObject({ userId: person.userId, isPasswordExist: true });
    }
    // Nobody is thrown out by it.
    await person.client(api.user.profile, {});
    const subjects = await subjectsTo(person.email);
    expect(subjects).toContain('Google can now log in to your Stagi account');
    expect(subjects).toContain('GitHub can now log in to your Stagi account');
  });

  it('makes one account of an identity that comes in two tabs at once', async () => {
    const { login } = anAccount();
    const returns = await Promise.all(['google', 'google', 'github', 'github'].map((by) => tripOf(by as never, login)));
    const clients = await Promise.all(returns.map((trip) => trip.send()));
    const ids = await Promise.all(
      clients.map(async (tokens) => (await clientWith(tokens)(api.user.profile, {})).userProfile.userId),
    );
    expect(new Set(ids).size).toBe(1);
  });

  it('tells nobody of an address that the provider has not confirmed, known or not', async () => {
    const person = await app.signUp();
    for (const by of ['google', 'github'] as const) {
      const known = anAccount({ email: person.email, emailVerified: false });
      const unknown = anAccount({ emailVerified: false });
      const words = [
        (await refusal(comeBy(by, known.login))).message,
        (await refusal(comeBy(by, unknown.login))).message,
      ];
      expect(words[0]).toMatch(/has no confirmed e-mail/);
      expect(words[0]).toBe(words[1]);
    }
    expect((await person.client(api.identities.list, {})).identities).toEqual([]);
  });

  it('refuses a GitHub account whose e-mail is taken by an account that logs in with another one', async () => {
    const { login, email } = anAccount();
    await comeBy('github', login);
    const other = anAccount({ email });
    expect((await refusal(comeBy('github', other.login))).message).toBe(
      'This e-mail is taken: its account logs in with another GitHub account. Log in with that one, or with your password.',
    );
  });

  it('refuses a disabled account, known by identity or by address', async () => {
    const { login, email } = anAccount();
    await comeBy('google', login);
    await app.ctx.db.updateTable('app_user').set({ disabled_at: new Date() }).where('email', '=', email).execute();
    expect((await refusal(comeBy('google', login))).message).toBe('This account has been disabled');
    expect((await refusal(comeBy('github', login))).message).toBe('This account has been disabled');
  });

  it('is refused clearly where it is not set up', async () => {
    const bare = await startTestApp();
    try {
      for (const call of [api.identities.googleLink, api.identities.githubLink] as const)
        expect((await refusal(bare.anonymous(call, {}))).message).toMatch(/^Logging in with \w+ is not set up here$/);
      const page = await fetch(`${bare.url}/configuration.json`);
      expect(await page.json()).toMatchObject({ identityProviders: [] });
    } finally {
      await bare.close();
    }
    const page = await fetch(`${app.url}/configuration.json`);
    expect(await page.json()).toMatchObject({ identityProviders: ['google', 'github'] });
  });
});

describe('what a forger or a thief brings back', () => {
  type Forgery = [name: string, make: (good: GoogleReturn) => Promise<GoogleReturn> | GoogleReturn];
  interface GoogleReturn {
    token: string;
    state: string;
    nonce: string;
  }
  const claimsOf = ({ nonce }: GoogleReturn, more: Record<string, unknown> = {}) => ({
    iss: there.issuer,
    aud: CLIENT_ID,
    sub: 'victim',
    email: 'victim@example.com',
    email_verified: true,
    iat: now(),
    exp: now() + 300,
    nonce,
    ...more,
  });
  const now = () => Math.floor(Date.now() / 1000);
  const signed = (more: Record<string, unknown>, header?: Record<string, unknown>) => async (good: GoogleReturn) => ({
    ...good,
    token: await there.sign(claimsOf(good, more), header),
  });

  const FORGERIES: Forgery[] = [
    ['a state that nobody was given', (good) => ({ ...good, state: 'x'.repeat(43) })],
    ['the state of another trip', async (good) => ({ ...good, state: (await tripLink()).state })],
    ['the nonce of another trip', async (good) => ({ ...good, nonce: (await tripLink()).nonce })],
    [
      'the token of somebody else’s trip',
      async (good) => ({ ...good, token: (await googleReturn(anAccount().login)).token }),
    ],
    ['a token for another application', signed({ aud: OTHER_CLIENT_ID })],
    ['a real token for another application', foreignAudience],
    ['a token of another issuer', signed({ iss: 'https://accounts.evil.example' })],
    ['a token for two audiences, asked for by the other', signed({ aud: [CLIENT_ID, 'x'], azp: 'x' })],
    ['an expired token', signed({ iat: now() - 900, exp: now() - 300 })],
    ['a token of the future', signed({ nbf: now() + 600 })],
    ['a token without a nonce', signed({ nonce: undefined })],
    ['a token without an expiry', signed({ exp: undefined })],
    ['a token without a subject', signed({ sub: undefined })],
    [
      'a token signed with a key that the issuer does not have',
      async (good) => ({ ...good, token: await byForger(good) }),
    ],
    ['a tampered payload', tamperedPayload],
    ['a tampered signature', (good) => ({ ...good, token: `${good.token.slice(0, -8)}AAAAAAAA` })],
    ['alg: none', unsigned],
    ['a signature by a shared secret', async (good) => ({ ...good, token: await byOwnSecret(good) })],
    ['no token at all', (good) => ({ ...good, token: 'x.y.z' })],
  ];

  it.each(FORGERIES)('Google: %s', async (_name, make) => {
    const accountsBefore = await countAccounts();
    const good = await googleReturn(anAccount().login);
    const bad = await make(good);
    const before = (await countAccounts()) - accountsBefore;
    const error = await refusal(app.anonymous(api.identities.validateGoogle, bad));
    expect(error.status).toBe(200);
    expect(error.message).toMatch(/did not confirm this login|has expired or was used already/);
    expect((await countAccounts()) - accountsBefore).toBe(before);
  });

  it('Google: what is forged above, without the forgery, is let in', async () => {
    const good = await googleReturn(anAccount().login);
    await app.anonymous(
      api.identities.validateGoogle,
      await signed({ sub: 'honest', email: 'honest@example.com' })(good),
    );
    console.log(`forged returns of Google refused: n = ${FORGERIES.length}`);
    expect(FORGERIES.length).toBeGreaterThan(0);
  });

  it('Google: a return that was sent already, or whose first try failed', async () => {
    const good = await googleReturn(anAccount().login);
    await app.anonymous(api.identities.validateGoogle, good);
    expect((await refusal(app.anonymous(api.identities.validateGoogle, good))).message).toMatch(/used already/);

    const second = await googleReturn(anAccount().login);
    await refusal(app.anonymous(api.identities.validateGoogle, { ...second, token: 'x.y.z' }));
    expect((await refusal(app.anonymous(api.identities.validateGoogle, second))).message).toMatch(/used already/);
  });

  it('Google: a return after more than ten minutes', async () => {
    const good = await googleReturn(anAccount().login);
    await app.ctx.db
      .updateTable('provider_trip')
      .set({ expires_at: new Date(Date.now() - 1000) })
      .execute();
    expect((await refusal(app.anonymous(api.identities.validateGoogle, good))).message).toMatch(/has expired/);
  });

  it('GitHub: another state, a used code, a code that somebody else was given', async () => {
    const mine = await githubReturn(anAccount().login);
    const victims = await githubReturn(anAccount().login);
    const attempts: { code: string; state: string }[] = [
      { ...mine, state: 'x'.repeat(43) },
      // Injection: the victim's code with a state of one's own. Its verifier is another.
      { code: victims.code, state: (await app.anonymous(api.identities.githubLink, {})).state },
      { code: 'made-up', state: (await app.anonymous(api.identities.githubLink, {})).state },
      // A state of the other provider.
      { ...victims, state: (await tripLink()).state },
    ];
    for (const attempt of attempts)
      expect((await refusal(app.anonymous(api.identities.validateGithub, attempt))).status).toBe(200);

    await app.anonymous(api.identities.validateGithub, mine);
    await refusal(app.anonymous(api.identities.validateGithub, mine));
    const another = await app.anonymous(api.identities.githubLink, {});
    await refusal(app.anonymous(api.identities.validateGithub, { code: mine.code, state: another.state }));
  });

  const tripLink = () => app.anonymous(api.identities.googleLink, {});

  async function foreignAudience(good: GoogleReturn): Promise<GoogleReturn> {
    const link = new URL((await tripLink()).link);
    link.searchParams.set('client_id', OTHER_CLIENT_ID);
    link.searchParams.set('state', good.state);
    link.searchParams.set('nonce', good.nonce);
    const back = await there.logIn(link.href, anAccount().login);
    return { ...good, token: hashOf(back).get('id_token') ?? '' };
  }

  async function byForger(good: GoogleReturn): Promise<string> {
    const forger = await startIdentityProvider();
    try {
      return await forger.sign(claimsOf(good));
    } finally {
      await forger.close();
    }
  }

  async function byOwnSecret(good: GoogleReturn): Promise<string> {
    const { SignJWT } = await import('jose');
    return new SignJWT(claimsOf(good))
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(CLIENT_ID.padEnd(64, '0')));
  }

  function tamperedPayload(good: GoogleReturn): GoogleReturn {
    const [header, payload = '', signature] = good.token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const other = Buffer.from(JSON.stringify({ ...claims, sub: 'victim' })).toString('base64url');
    return { ...good, token: `${header}.${other}.${signature}` };
  }

  function unsigned(good: GoogleReturn): GoogleReturn {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    return { ...good, token: `${part({ alg: 'none' })}.${part(claimsOf(good))}.` };
  }
});

describe('somebody who took an address before its owner came', () => {
  it.each(['google', 'github', 'code'] as const)('gains nothing when the owner comes by %s', async (by) => {
    const { login, email } = anAccount();
    // Eve registers with the address and waits for somebody to confirm it.
    const pending = await app.anonymous(api.auth.register, { name: 'Eve', email, password: 'Eves-password-1' });
    // And there is an account with it from a time when nobody had to: its password, session, key and logins are Eve's.
    const eve = await app.signUp('Eve');
    const eves = anAccount();
    await connect(eve.client, 'github', eves.login);
    const key = await anSshKey(app.ctx, eve);
    const { token } = await anApiToken(app.ctx, eve);
    const balanceBy = (bearer: string) =>
      app.post('billing/balance', {}, { authorization: `Bearer ${bearer}`, 'x-client-id': String(eve.workspaceId) });
    expect((await balanceBy(token)).status).toBe(200);
    const friend = await app.signUp('Friend of Eve');
    const letIn = { workspace_id: eve.workspaceId, user_id: friend.userId, role: 'Owner' as const };
    await app.ctx.db.insertInto('membership').values(letIn).execute();
    await app.ctx.db
      .updateTable('app_user')
      .set({ email, email_verified_at: null })
      .where('id', '=', eve.userId)
      .execute();

    const owner = by === 'code' ? await comeByCode(email) : await comeBy(by, login);
    const { userProfile } = await owner(api.user.profile, {});
    expect(userProfile).toMatchObject({ email, isPasswordExist: by === 'code' });

    expect((await refusal(eve.client(api.user.profile, {}))).status).toBe(401);
    expect((await refusal(app.anonymous(api.auth.authentication, { email, password: PASSWORD }))).status).toBe(400);
    expect((await (await comeBy('github', eves.login))(api.user.profile, {})).userProfile.email).toBe(eves.email);
    const kept = app.ctx.db.selectFrom('ssh_key').select('id').where('id', '=', key);
    expect(await kept.execute()).toEqual([]);
    expect((await balanceBy(token)).status).toBe(401);
    friend.useWorkspace(eve.workspaceId);
    expect((await refusal(friend.client(api.billing.balance, {}))).status).toBe(404);
    // Not even a code that she gets to see later makes the address hers.
    const code = await mailedCodeOrNone(email);
    const late = app.anonymous(api.auth.verifyCode, { email, code: code ?? '00000000', flow: pending.flow });
    expect((await refusal(late)).status).toBe(400);
  });

  it('gains nothing by a registration alone: neither password nor code works once the owner is here', async () => {
    const { login, email } = anAccount();
    const { flow } = await app.anonymous(api.auth.register, { name: 'Eve', email, password: 'Eves-password-1' });
    const code = await mailedCode(app.url, email);
    const owner = await comeBy('google', login);
    expect((await refusal(app.anonymous(api.auth.verifyCode, { email, code, flow }))).status).toBe(400);
    const entered = app.anonymous(api.auth.authentication, { email, password: 'Eves-password-1' });
    expect((await refusal(entered)).status).toBe(400);
    expect((await owner(api.user.profile, {})).userProfile).toMatchObject({ email, isPasswordExist: false });
  });
});

describe('connected accounts', () => {
  it('are connected with another address, log in, and are disconnected', async () => {
    const person = await app.signUp();
    const { login } = anAccount();
    const unasked = await refusal(person.client(api.identities.begin, { provider: 'google' }));
    expect([unasked.status, unasked.body?.code]).toEqual([403, 'step-up']);
    await connect(person.client, 'google', login);
    await connect(person.client, 'github', login);
    const { identities } = await person.client(api.identities.list, {});
    expect(identities.map(({ provider }) => provider)).toEqual(['github', 'google']);
    const by = await comeBy('github', login);
    expect((await by(api.user.profile, {})).userProfile.userId).toBe(person.userId);

    await person.client(api.identities.disconnect, { provider: 'github' });
    await person.client(api.identities.disconnect, { provider: 'github' });
    await person.client(api.identities.disconnect, { provider: 'google' });
    expect((await person.client(api.identities.list, {})).identities).toEqual([]);
    expect(await subjectsTo(person.email)).toContain('GitHub was disconnected from your Stagi account');
  });

  it('keep the last way in, also when both go at once', async () => {
    const { login } = anAccount();
    const client = await comeBy('google', login);
    expect((await refusal(client(api.identities.disconnect, { provider: 'google' }))).message).toBe(
      'This is your only way to log in. Add a password first.',
    );
    await connect(client, 'github', login);
    const both = (['google', 'github'] as const).map((provider) => client(api.identities.disconnect, { provider }));
    const ends = await Promise.allSettled(both);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await client(api.identities.list, {})).identities).toHaveLength(1);
  });

  it('cannot be taken from somebody, nor connected with what another session or a login brought back', async () => {
    const [owner, thief] = [await app.signUp(), await app.signUp()];
    const { login } = anAccount();
    await connect(owner.client, 'github', login);
    expect((await refusal(connect(thief.client, 'github', login))).message).toBe(
      'This GitHub account is connected to another account here',
    );
    const second = anAccount();
    expect((await refusal(connect(owner.client, 'github', second.login))).message).toMatch(/Disconnect that one first/);

    await stepUp();
    const begun = await owner.client(api.identities.begin, { provider: 'google' });
    const back = await there.logIn(begun.link, second.login);
    const returned = { token: hashOf(back).get('id_token') ?? '', state: begun.state, nonce: begun.nonce ?? '' };
    const stolen = thief.client(api.identities.connect, { provider: 'google', ...returned });
    expect((await refusal(stolen)).message).toMatch(/has expired or was used already/);
    expect((await refusal(app.anonymous(api.identities.validateGoogle, returned))).message).toMatch(/has expired/);
    const login2 = await googleReturn(second.login);
    const asLogin = owner.client(api.identities.connect, { provider: 'google', ...login2 });
    expect((await refusal(asLogin)).message).toMatch(/has expired or was used already/);
  });
});

function anAccount(given: { email?: string; emailVerified?: boolean; name?: string } = {}) {
  people += 1;
  const login = `login-${people}`;
  const email = given.email ?? `${login}-${Date.now()}@example.com`;
  there.accounts.set(login, { id: 1000 + people, ...given, email });
  return { login, email };
}

const hashOf = (back: URL) => new URLSearchParams(back.hash.slice(1));

async function googleReturn(login: string) {
  const { link, state, nonce } = await app.anonymous(api.identities.googleLink, {});
  const back = hashOf(await there.logIn(link, login));
  expect(back.get('state')).toBe(state);
  return { token: back.get('id_token') ?? '', state, nonce };
}

async function githubReturn(login: string) {
  const { link, state } = await app.anonymous(api.identities.githubLink, {});
  const back = (await there.logIn(link, login)).searchParams;
  expect(back.get('state')).toBe(state);
  return { code: back.get('code') ?? '', state };
}

/** Somebody at the door, with what the provider gave them. */
async function tripOf(by: IdentityProvider, login: string) {
  if (by === 'google') {
    const returned = await googleReturn(login);
    return { send: () => app.anonymous(api.identities.validateGoogle, returned) };
  }
  const returned = await githubReturn(login);
  return { send: () => app.anonymous(api.identities.validateGithub, returned) };
}

async function comeBy(by: IdentityProvider, login: string) {
  return clientWith(await (await tripOf(by, login)).send());
}

/** By a new password, which takes a code from one's mail. */
async function comeByCode(email: string) {
  const { flow } = await app.anonymous(api.auth.resetPasswordCode, { email });
  const code = await mailedCode(app.url, email);
  return clientWith(
    await app.anonymous(api.auth.resetPassword, { email, code, flow, newPassword: 'Owners-password-1' }),
  );
}

async function connect(client: ReturnType<typeof clientWith>, provider: IdentityProvider, login: string) {
  await stepUp();
  const { link, state, nonce } = await client(api.identities.begin, { provider });
  const back = await there.logIn(link, login);
  await (provider === 'google'
    ? client(api.identities.connect, { provider, state, nonce: nonce ?? '', token: hashOf(back).get('id_token') ?? '' })
    : client(api.identities.connect, { provider, state, code: back.searchParams.get('code') ?? '' }));
}

/** As if everybody had just shown that it is them. */
async function stepUp() {
  await app.ctx.db.updateTable('session').set({ stepped_up_at: new Date() }).execute();
}

function clientWith(given: EnterResponse) {
  let tokens: Tokens = tokensOf(given);
  return createClient({
    send: sender(app.url),
    session: { get: () => tokens, set: (next) => (tokens = next) },
    clientId: () => null,
  });
}

const refusal = (work: Promise<unknown>): Promise<CallError> =>
  work.then(
    () => expect.unreachable('the call should have been refused'),
    (error: unknown) => {
      if (!(error instanceof CallError)) throw error;
      return error;
    },
  );

async function countAccounts(): Promise<number> {
  const { rows } = await app.ctx.pg.query<{ n: number }>('select count(*)::int as n from app_user');
  return rows[0]?.n ?? 0;
}

const mailedCodeOrNone = (email: string) => mailedCode(app.url, email).catch(() => null);

async function subjectsTo(email: string): Promise<string[]> {
  const rows = await app.ctx.db.selectFrom('mail').selectAll().where('recipient', '=', email).execute();
  return rows.map((row) => openMail(app.ctx, row).subject);
}
