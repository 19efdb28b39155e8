import { api } from '@stagi/contract/api.ts';
import { describe, expect, it } from 'vitest';
import { CLIENT_ID, OTHER_CLIENT_ID, startIdentityProvider } from '../testing/identityProvider.ts';
import { refusal } from '../testing/refusal.ts';
import { hashOf, providerSignIns } from './testing/authorizationRequests.ts';

const { at, anAccount, googleCallback, githubCallback } = providerSignIns();

describe('a forged or replayed callback is refused', () => {
  type Forgery = [name: string, make: (good: GoogleCallback) => Promise<GoogleCallback> | GoogleCallback];
  interface GoogleCallback {
    token: string;
    state: string;
    nonce: string;
  }
  const claimsOf = ({ nonce }: GoogleCallback, more: Record<string, unknown> = {}) => ({
    iss: at.there.issuer,
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
  const signed = (more: Record<string, unknown>, header?: Record<string, unknown>) => async (good: GoogleCallback) => ({
    ...good,
    token: await at.there.sign(claimsOf(good, more), header),
  });

  const FORGERIES: Forgery[] = [
    ['a state that nobody was given', (good) => ({ ...good, state: 'x'.repeat(43) })],
    ['the state of another authorization request', async (good) => ({ ...good, state: (await requestLink()).state })],
    ['the nonce of another authorization request', async (good) => ({ ...good, nonce: (await requestLink()).nonce })],
    [
      'the token of somebody else’s authorization request',
      async (good) => ({ ...good, token: (await googleCallback(anAccount().login)).token }),
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
    const good = await googleCallback(anAccount().login);
    const bad = await make(good);
    const before = (await countAccounts()) - accountsBefore;
    const error = await refusal(at.app.anonymous(api.identities.validateGoogle, bad));
    expect(error.status).toBe(200);
    expect(error.message).toMatch(/did not confirm this login|has expired or was already used/);
    expect((await countAccounts()) - accountsBefore).toBe(before);
  });

  it('Google: the same callback without the forgery is accepted', async () => {
    const good = await googleCallback(anAccount().login);
    await at.app.anonymous(
      api.identities.validateGoogle,
      await signed({ sub: 'honest', email: 'honest@example.com' })(good),
    );
    console.log(`forged returns of Google refused: n = ${FORGERIES.length}`);
    expect(FORGERIES.length).toBeGreaterThan(0);
  });

  it('Google: a callback that was used already, or whose first use failed', async () => {
    const good = await googleCallback(anAccount().login);
    await at.app.anonymous(api.identities.validateGoogle, good);
    expect((await refusal(at.app.anonymous(api.identities.validateGoogle, good))).message).toMatch(/already used/);

    const second = await googleCallback(anAccount().login);
    await refusal(at.app.anonymous(api.identities.validateGoogle, { ...second, token: 'x.y.z' }));
    expect((await refusal(at.app.anonymous(api.identities.validateGoogle, second))).message).toMatch(/already used/);
  });

  it('Google: a callback after more than ten minutes', async () => {
    const good = await googleCallback(anAccount().login);
    await at.app.ctx.db
      .updateTable('provider_trip')
      .set({ expires_at: new Date(Date.now() - 1000) })
      .execute();
    expect((await refusal(at.app.anonymous(api.identities.validateGoogle, good))).message).toMatch(/has expired/);
  });

  it('GitHub: another state, a used code, a code issued to somebody else', async () => {
    const mine = await githubCallback(anAccount().login);
    const victims = await githubCallback(anAccount().login);
    const attempts: { code: string; state: string }[] = [
      { ...mine, state: 'x'.repeat(43) },
      // Injection: the victim's code with a state of one's own. Its verifier is another.
      { code: victims.code, state: (await at.app.anonymous(api.identities.githubLink, {})).state },
      { code: 'made-up', state: (await at.app.anonymous(api.identities.githubLink, {})).state },
      // A state of the other provider.
      { ...victims, state: (await requestLink()).state },
    ];
    for (const attempt of attempts)
      expect((await refusal(at.app.anonymous(api.identities.validateGithub, attempt))).status).toBe(200);

    await at.app.anonymous(api.identities.validateGithub, mine);
    await refusal(at.app.anonymous(api.identities.validateGithub, mine));
    const another = await at.app.anonymous(api.identities.githubLink, {});
    await refusal(at.app.anonymous(api.identities.validateGithub, { code: mine.code, state: another.state }));
  });

  const requestLink = () => at.app.anonymous(api.identities.googleLink, {});

  async function foreignAudience(good: GoogleCallback): Promise<GoogleCallback> {
    const link = new URL((await requestLink()).link);
    link.searchParams.set('client_id', OTHER_CLIENT_ID);
    link.searchParams.set('state', good.state);
    link.searchParams.set('nonce', good.nonce);
    const back = await at.there.logIn(link.href, anAccount().login);
    return { ...good, token: hashOf(back).get('id_token') ?? '' };
  }

  async function byForger(good: GoogleCallback): Promise<string> {
    const forger = await startIdentityProvider();
    try {
      return await forger.sign(claimsOf(good));
    } finally {
      await forger.close();
    }
  }

  async function byOwnSecret(good: GoogleCallback): Promise<string> {
    const { SignJWT } = await import('jose');
    return new SignJWT(claimsOf(good))
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(CLIENT_ID.padEnd(64, '0')));
  }

  function tamperedPayload(good: GoogleCallback): GoogleCallback {
    const [header, payload = '', signature] = good.token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const other = Buffer.from(JSON.stringify({ ...claims, sub: 'victim' })).toString('base64url');
    return { ...good, token: `${header}.${other}.${signature}` };
  }

  function unsigned(good: GoogleCallback): GoogleCallback {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    return { ...good, token: `${part({ alg: 'none' })}.${part(claimsOf(good))}.` };
  }
});

async function countAccounts(): Promise<number> {
  const { rows } = await at.app.ctx.pg.query<{ n: number }>('select count(*)::int as n from app_user');
  return rows[0]?.n ?? 0;
}
