import { api } from '@stagi/contract/api.ts';
import { createClient, type Tokens } from '@stagi/contract/apiClient.ts';
import type { SignInResponse } from '@stagi/contract/authResponse.ts';
import type { IdentityProvider } from '@stagi/contract/identityProviders.ts';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { startTestApp } from '../testing/app.ts';
import { anApiToken, anSshKey } from '../testing/factories.ts';
import { httpSender, mailedCode, PASSWORD, signUp, tokensOf } from '../testing/person.ts';
import { refusal } from '../testing/refusal.ts';
import { storedSubjects } from '../testing/storedMails.ts';
import { hashOf, providerSignIns } from './testing/authorizationRequests.ts';

const { at, anAccount, googleCallback, githubCallback } = providerSignIns();

describe('logging in with Google or GitHub', () => {
  it.each(['google', 'github'] as const)(
    'makes an account by %s the first time, and finds it the second',
    async (by) => {
      const { login, email } = anAccount({ name: 'Grace Hopper' });
      const first = await signInBy(by, login);
      const { userProfile } = await first(api.user.profile, {});
      expect(userProfile).toMatchObject({ email, name: 'Grace Hopper', isPasswordExist: false });
      expect(userProfile.isSignupFormSubmitted).toBe(false);
      expect(userProfile.clientRelations).toMatchObject([
        { clientName: 'Grace Hopper’s workspace', roleName: 'Owner' },
      ]);
      const { entities } = await first(api.sessions.list, {});
      expect(entities.map(({ authType }) => authType)).toEqual([by]);

      const again = await (await signInBy(by, login))(api.user.profile, {});
      expect(again.userProfile.userId).toBe(userProfile.userId);
      const { identities } = await first(api.identities.list, {});
      expect(identities).toMatchObject([{ provider: by, email }]);
    },
  );

  it.each([
    ['Grace\u202e Hopper', 'Grace Hopper'],
    ['Grace\r\nHopper', 'Grace  Hopper'],
    ['Граце Хоппер', 'Граце Хоппер'],
    [`Grace ${'x'.repeat(300)}`, `Grace ${'x'.repeat(93)}…`],
    ['\u3164', null],
    ['\u200b\u2800', null],
  ])('takes a name from them as one line that can be read: %j', async (name, taken) => {
    const { login, email } = anAccount({ name });
    const { userProfile } = await (await signInBy('google', login))(api.user.profile, {});
    expect(userProfile.name).toBe(taken ?? email.split('@')[0]);
  });

  it('links both, and a sign-up by mail, where each has confirmed the address, and notifies the owner', async () => {
    const person = await at.app.signUp();
    const { login } = anAccount({ email: person.email });
    for (const by of ['google', 'github'] as const) {
      const { userProfile } = await (await signInBy(by, login))(api.user.profile, {});
      expect(userProfile).toMatchObject({ userId: person.userId, isPasswordExist: true });
    }
    // The existing sessions stay.
    await person.client(api.user.profile, {});
    const subjects = await subjectsTo(person.email);
    expect(subjects).toContain('Google was connected to your Stagi account');
    expect(subjects).toContain('GitHub was connected to your Stagi account');
  });

  it('gives starter credit once per mailbox, by whichever way its accounts are made', async () => {
    const person = await at.app.signUp();
    const { login } = anAccount({ email: person.email.replace('@', '+google@') });
    const { email: first, login: other } = anAccount();
    const balances = [];
    for (const [by, who] of [
      ['google', login],
      ['github', other],
    ] as const) {
      const client = await signInBy(by, who);
      const { clientRelations } = (await client(api.user.profile, {})).userProfile;
      const { rows } = await sql<{
        refused: string | null;
        credit: bigint;
      }>`select starter_refused as refused, balance as credit
        from workspace join account on account.code = 'workspace:' || workspace.id || ':credit'
        where workspace.id = ${clientRelations[0]!.clientId}`.execute(at.app.ctx.db);
      balances.push(rows[0]);
    }
    expect(balances).toEqual([
      { refused: 'mailbox', credit: 0n },
      { refused: null, credit: 50_000_000n },
    ]);
    const url = at.app.url;
    const again = await signUp(url, httpSender(url), { name: 'Again', email: first.replace('@', '+mail@') });
    expect((await again.client(api.billing.balance, {})).starterRefused).toBe('mailbox');
  });

  it('creates one account when two tabs sign in with the same new identity at once', async () => {
    const { login } = anAccount();
    const returns = await Promise.all(
      ['google', 'google', 'github', 'github'].map((by) => requestOf(by as never, login)),
    );
    const clients = await Promise.all(returns.map((trip) => trip.send()));
    const ids = await Promise.all(
      clients.map(async (tokens) => (await clientWith(tokens)(api.user.profile, {})).userProfile.userId),
    );
    expect(new Set(ids).size).toBe(1);
  });

  it('answers the same for a known and an unknown address that the provider has not confirmed', async () => {
    const person = await at.app.signUp();
    for (const by of ['google', 'github'] as const) {
      const known = anAccount({ email: person.email, emailVerified: false });
      const unknown = anAccount({ emailVerified: false });
      const words = [
        (await refusal(signInBy(by, known.login))).message,
        (await refusal(signInBy(by, unknown.login))).message,
      ];
      expect(words[0]).toMatch(/has no confirmed email/);
      expect(words[0]).toBe(words[1]);
    }
    expect((await person.client(api.identities.list, {})).identities).toEqual([]);
  });

  it('refuses a GitHub account whose e-mail is taken by an account that logs in with another one', async () => {
    const { login, email } = anAccount();
    await signInBy('github', login);
    const other = anAccount({ email });
    expect((await refusal(signInBy('github', other.login))).message).toBe(
      'This email is taken: its account logs in with another GitHub account. Log in with that one, or with your password.',
    );
  });

  it('refuses a disabled account, known by identity or by address', async () => {
    const { login, email } = anAccount();
    await signInBy('google', login);
    await at.app.ctx.db.updateTable('app_user').set({ disabled_at: new Date() }).where('email', '=', email).execute();
    expect((await refusal(signInBy('google', login))).message).toBe('This account has been disabled');
    expect((await refusal(signInBy('github', login))).message).toBe('This account has been disabled');
  });

  it('says so where a provider is not configured', async () => {
    const bare = await startTestApp();
    try {
      for (const call of [api.identities.googleLink, api.identities.githubLink] as const)
        expect((await refusal(bare.anonymous(call, {}))).message).toMatch(/^Logging in with \w+ is not set up here$/);
      const page = await fetch(`${bare.url}/configuration.json`);
      expect(await page.json()).toMatchObject({ identityProviders: [] });
    } finally {
      await bare.close();
    }
    const page = await fetch(`${at.app.url}/configuration.json`);
    expect(await page.json()).toMatchObject({ identityProviders: ['google', 'github'] });
  });
});

describe('somebody who registered an address before its owner did', () => {
  it.each(['google', 'github', 'code'] as const)('loses all access when the owner signs in by %s', async (by) => {
    const { login, email } = anAccount();
    // Eve registers the address and waits for somebody to confirm it.
    const pending = await at.app.anonymous(api.auth.register, { name: 'Eve', email, password: 'Eves-password-1' });
    // An older account with the address was never confirmed: its password, session, key and identities are Eve's.
    const eve = await at.app.signUp('Eve');
    const eves = anAccount();
    await connect(eve.client, 'github', eves.login);
    const key = await anSshKey(at.app.ctx, eve);
    const { token } = await anApiToken(at.app.ctx, eve);
    const balanceBy = (bearer: string) =>
      at.app.post('billing/balance', {}, { authorization: `Bearer ${bearer}`, 'x-client-id': String(eve.workspaceId) });
    expect((await balanceBy(token)).status).toBe(200);
    const friend = await at.app.signUp('Friend of Eve');
    const letIn = { workspace_id: eve.workspaceId, user_id: friend.userId, role: 'Owner' as const };
    await at.app.ctx.db.insertInto('membership').values(letIn).execute();
    await at.app.ctx.db
      .updateTable('app_user')
      .set({ email, email_verified_at: null })
      .where('id', '=', eve.userId)
      .execute();

    const owner = by === 'code' ? await signInByCode(email) : await signInBy(by, login);
    const { userProfile } = await owner(api.user.profile, {});
    expect(userProfile).toMatchObject({ email, isPasswordExist: by === 'code' });

    expect((await refusal(eve.client(api.user.profile, {}))).status).toBe(401);
    expect((await refusal(at.app.anonymous(api.auth.authentication, { email, password: PASSWORD }))).status).toBe(400);
    expect((await (await signInBy('github', eves.login))(api.user.profile, {})).userProfile.email).toBe(eves.email);
    const kept = at.app.ctx.db.selectFrom('ssh_key').select('id').where('id', '=', key);
    expect(await kept.execute()).toEqual([]);
    expect((await balanceBy(token)).status).toBe(401);
    friend.useWorkspace(eve.workspaceId);
    expect((await refusal(friend.client(api.billing.balance, {}))).status).toBe(404);
    // Not even a code that she gets to see later makes the address hers.
    const code = await mailedCodeOrNone(email);
    const late = at.app.anonymous(api.auth.verifyCode, { email, code: code ?? '00000000', flow: pending.flow });
    expect((await refusal(late)).status).toBe(400);
  });

  it('cannot use the password or code of a pending registration once the owner has an account', async () => {
    const { login, email } = anAccount();
    const { flow } = await at.app.anonymous(api.auth.register, { name: 'Eve', email, password: 'Eves-password-1' });
    const code = await mailedCode(at.app.url, email);
    const owner = await signInBy('google', login);
    expect((await refusal(at.app.anonymous(api.auth.verifyCode, { email, code, flow }))).status).toBe(400);
    const entered = at.app.anonymous(api.auth.authentication, { email, password: 'Eves-password-1' });
    expect((await refusal(entered)).status).toBe(400);
    expect((await owner(api.user.profile, {})).userProfile).toMatchObject({ email, isPasswordExist: false });
  });
});

describe('connected accounts', () => {
  it('are connected with another address, log in, and are disconnected', async () => {
    const person = await at.app.signUp();
    const { login } = anAccount();
    const unasked = await refusal(person.client(api.identities.begin, { provider: 'google' }));
    expect([unasked.status, unasked.body?.code]).toEqual([403, 'step-up']);
    await connect(person.client, 'google', login);
    await connect(person.client, 'github', login);
    const { identities } = await person.client(api.identities.list, {});
    expect(identities.map(({ provider }) => provider)).toEqual(['github', 'google']);
    const by = await signInBy('github', login);
    expect((await by(api.user.profile, {})).userProfile.userId).toBe(person.userId);

    await at.app.ctx.db.updateTable('session').set({ stepped_up_at: null }).execute();
    const kept = await refusal(person.client(api.identities.disconnect, { provider: 'github' }));
    expect([kept.status, kept.body?.code]).toEqual([403, 'step-up']);
    await stepUp();
    await person.client(api.identities.disconnect, { provider: 'github' });
    await person.client(api.identities.disconnect, { provider: 'github' });
    await person.client(api.identities.disconnect, { provider: 'google' });
    expect((await person.client(api.identities.list, {})).identities).toEqual([]);
    expect(await subjectsTo(person.email)).toContain('GitHub was disconnected from your Stagi account');
  });

  it('keep the only sign-in method, also when both are disconnected at once', async () => {
    const { login } = anAccount();
    const client = await signInBy('google', login);
    await stepUp();
    expect((await refusal(client(api.identities.disconnect, { provider: 'google' }))).message).toBe(
      'This is your only way to log in. Add a password first.',
    );
    await connect(client, 'github', login);
    const both = (['google', 'github'] as const).map((provider) => client(api.identities.disconnect, { provider }));
    const ends = await Promise.allSettled(both);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await client(api.identities.list, {})).identities).toHaveLength(1);
  });

  it('cannot be taken from somebody, nor connected with the callback of another session or of a sign-in', async () => {
    const [owner, thief] = [await at.app.signUp(), await at.app.signUp()];
    const { login } = anAccount();
    await connect(owner.client, 'github', login);
    expect((await refusal(connect(thief.client, 'github', login))).message).toBe(
      'This GitHub account is connected to another account here',
    );
    const second = anAccount();
    expect((await refusal(connect(owner.client, 'github', second.login))).message).toMatch(/Disconnect that one first/);

    await stepUp();
    const begun = await owner.client(api.identities.begin, { provider: 'google' });
    const back = await at.there.logIn(begun.link, second.login);
    const returned = { token: hashOf(back).get('id_token') ?? '', state: begun.state, nonce: begun.nonce ?? '' };
    const stolen = thief.client(api.identities.connect, { provider: 'google', ...returned });
    expect((await refusal(stolen)).message).toMatch(/has expired or was already used/);
    expect((await refusal(at.app.anonymous(api.identities.validateGoogle, returned))).message).toMatch(/has expired/);
    const login2 = await googleCallback(second.login);
    const asLogin = owner.client(api.identities.connect, { provider: 'google', ...login2 });
    expect((await refusal(asLogin)).message).toMatch(/has expired or was already used/);
  });
});

/** A visitor with the provider's callback in hand. */
async function requestOf(by: IdentityProvider, login: string) {
  if (by === 'google') {
    const returned = await googleCallback(login);
    return { send: () => at.app.anonymous(api.identities.validateGoogle, returned) };
  }
  const returned = await githubCallback(login);
  return { send: () => at.app.anonymous(api.identities.validateGithub, returned) };
}

async function signInBy(by: IdentityProvider, login: string) {
  return clientWith(await (await requestOf(by, login)).send());
}

/** By a password reset, which takes a mailed code. */
async function signInByCode(email: string) {
  const { flow } = await at.app.anonymous(api.auth.resetPasswordCode, { email });
  const code = await mailedCode(at.app.url, email);
  return clientWith(
    await at.app.anonymous(api.auth.resetPassword, { email, code, flow, newPassword: 'Owners-password-1' }),
  );
}

async function connect(client: ReturnType<typeof clientWith>, provider: IdentityProvider, login: string) {
  await stepUp();
  const { link, state, nonce } = await client(api.identities.begin, { provider });
  const back = await at.there.logIn(link, login);
  await (provider === 'google'
    ? client(api.identities.connect, { provider, state, nonce: nonce ?? '', token: hashOf(back).get('id_token') ?? '' })
    : client(api.identities.connect, { provider, state, code: back.searchParams.get('code') ?? '' }));
}

/** Marks every session as stepped up. */
async function stepUp() {
  await at.app.ctx.db.updateTable('session').set({ stepped_up_at: new Date() }).execute();
}

function clientWith(given: SignInResponse) {
  let tokens: Tokens = tokensOf(given);
  return createClient({
    send: httpSender(at.app.url),
    session: { get: () => tokens, set: (next) => (tokens = next) },
    clientId: () => null,
  });
}

const mailedCodeOrNone = (email: string) => mailedCode(at.app.url, email).catch(() => null);

const subjectsTo = (email: string) => storedSubjects(at.app.ctx, email);
