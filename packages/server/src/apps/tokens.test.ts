import { randomBytes } from 'node:crypto';
import { OAuth2Client } from '@badgateway/oauth2-client';
import { api } from '@stagi/contract/api.ts';
import type { AuthorizationRequest } from '@stagi/contract/authorizationRequest.ts';
import { sql } from 'kysely';
import * as openid from 'openid-client';
import { describe, expect, it } from 'vitest';
import { ask, CLI, DASH, type Pkce, registeredApps, SECRET, SHOP } from './testing/registeredApps.ts';

const { at, allow, form, exchange, refresh, authorize, statusWith } = registeredApps();

describe('third-party OAuth clients', () => {
  const unexpected = (name: string) => ({ message: expect.stringMatching(new RegExp(`unexpected "${name}"`)) });

  it('openid-client discovers the server, completes the flow, refreshes and revokes', async () => {
    const config = await openid.discovery(new URL(at.app.ctx.config.appOrigin), CLI.id, undefined, openid.None(), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });
    expect(config.serverMetadata().supportsPKCE()).toBe(true);
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const link = openid.buildAuthorizationUrl(config, {
      redirect_uri: CLI.redirect,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    });
    expect(link.pathname).toBe('/sign-in');
    const answer = await allow(Object.fromEntries(link.searchParams) as unknown as AuthorizationRequest);
    // The library itself refuses a response with another issuer or state.
    const answered = new URL(answer.link);
    const forged = new URL(answer.link);
    forged.searchParams.set('iss', 'https://evil.example');
    const check = { pkceCodeVerifier: verifier, expectedState: state };
    await expect(openid.authorizationCodeGrant(config, forged, check)).rejects.toMatchObject({
      cause: unexpected('iss'),
    });
    const tampered = new URL(answer.link);
    tampered.searchParams.set('state', 'another');
    await expect(openid.authorizationCodeGrant(config, tampered, check)).rejects.toMatchObject({
      cause: unexpected('state'),
    });

    const tokens = await openid.authorizationCodeGrant(config, answered, check);
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 300 });
    expect(await statusWith(tokens.access_token)).toBe(200);
    const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token!);
    expect(renewed.refresh_token).not.toBe(tokens.refresh_token);
    expect(await statusWith(renewed.access_token)).toBe(200);
    await openid.tokenRevocation(config, renewed.refresh_token!);
    expect(await statusWith(renewed.access_token)).toBe(401);
    await expect(openid.refreshTokenGrant(config, renewed.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('keeps the name that an app gives itself as one line of what can be seen', async () => {
    const { refresh_token } = await authorize();
    await form(
      '/oauth/token',
      { grant_type: 'refresh_token', client_id: CLI.id, refresh_token },
      { 'user-agent': 'Evil\u009b31m\tapp' },
    );
    const { rows } = await sql`select user_agent from session where app_id = ${CLI.id}
      order by created_at desc limit 1`.execute(at.app.ctx.db);
    expect(rows).toEqual([{ user_agent: 'Evil31m app' }]);
  });

  it('@badgateway/oauth2-client does too, with and without a secret of its own', async () => {
    for (const { of, clientSecret } of [{ of: CLI }, { of: SHOP, clientSecret: SECRET }]) {
      const client = new OAuth2Client({ server: at.app.ctx.config.appOrigin, clientId: of.id, clientSecret });
      const codeVerifier = randomBytes(32).toString('base64url');
      const state = randomBytes(8).toString('hex');
      const uri = await client.authorizationCode.getAuthorizeUri({ redirectUri: of.redirect, state, codeVerifier });
      const { link } = await allow(Object.fromEntries(new URL(uri).searchParams) as unknown as AuthorizationRequest);
      const back = { redirectUri: of.redirect, state, codeVerifier };
      const tokens = await client.authorizationCode.getTokenFromCodeRedirect(link, back);
      expect(await statusWith(tokens.accessToken)).toBe(200);
      const renewed = await client.refreshToken(tokens);
      expect(await statusWith(renewed.accessToken)).toBe(200);
      await client.revoke(renewed);
      expect(await statusWith(renewed.accessToken)).toBe(401);
    }
  });
});

describe('the token endpoint', () => {
  it('exchanges a code only for the app that requested it, once, in time', async () => {
    let accepted = 0;
    let n = 0;
    const refusedWith = async (name: string, error: string, attempt: ReturnType<typeof form>) => {
      const { status, body, headers } = await attempt;
      n += 1;
      if (status === 200) accepted += 1;
      expect.soft([status === 200, body.error], name).toEqual([false, error]);
      expect.soft(body.access_token, name).toBeUndefined();
      expect.soft(headers.get('cache-control'), name).toBe('no-store');
    };
    const fresh = async (of = CLI) => {
      const pkce = ask(of);
      return { pkce, code: (await allow(pkce.request)).code };
    };
    const body = (code: string, { request, verifier }: Pkce, changes: Record<string, string | undefined> = {}) => {
      const all = {
        grant_type: 'authorization_code',
        client_id: request.client_id,
        code,
        redirect_uri: request.redirect_uri,
        code_verifier: verifier,
        ...changes,
      };
      return Object.fromEntries(
        Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
      );
    };

    const other = randomBytes(32).toString('base64url');
    for (const [name, error, changes] of [
      ['no verifier', 'invalid_request', { code_verifier: undefined }],
      ['wrong verifier', 'invalid_grant', { code_verifier: other }],
      ['the challenge as verifier (plain)', 'invalid_grant', 'challenge'],
      ['short verifier', 'invalid_grant', { code_verifier: 'short' }],
      ['oversized verifier', 'invalid_grant', { code_verifier: 'v'.repeat(129) }],
      ['another redirect', 'invalid_grant', { redirect_uri: 'http://127.0.0.1:4778/callback' }],
      ['no app', 'invalid_request', { client_id: undefined }],
      ['unknown app', 'invalid_client', { client_id: 'nobody' }],
      ['another app', 'invalid_grant', { client_id: DASH.id }],
      ['an app that has not proved itself', 'invalid_client', { client_id: SHOP.id }],
      ['a secret of an app that has none', 'invalid_client', { client_secret: 'x' }],
      ['a made-up code', 'invalid_grant', { code: randomBytes(32).toString('base64url') }],
      ['no code', 'invalid_request', { code: undefined }],
      ['another grant', 'unsupported_grant_type', { grant_type: 'password' }],
      ['no grant', 'invalid_request', { grant_type: undefined }],
      ['a grant called __proto__', 'unsupported_grant_type', { grant_type: '__proto__' }],
    ] as const) {
      const { pkce, code } = await fresh();
      const changed = changes === 'challenge' ? { code_verifier: pkce.request.code_challenge } : changes;
      await refusedWith(name, error, form('/oauth/token', body(code, pkce, changed)));
    }

    const late = await fresh();
    await sql`update oauth_code set expires_at = now() where used_at is null`.execute(at.app.ctx.db);
    await refusedWith('an expired code', 'invalid_grant', exchange(late.code, late.pkce));

    const mine = await fresh();
    const theirs = await fresh(DASH);
    await refusedWith('the code of another app', 'invalid_grant', form('/oauth/token', body(theirs.code, mine.pkce)));
    await refusedWith(
      'the code of another app, under its name',
      'invalid_grant',
      form('/oauth/token', body(theirs.code, mine.pkce, { client_id: DASH.id, redirect_uri: DASH.redirect })),
    );
    const twice = new URLSearchParams(body(mine.code, mine.pkce));
    twice.append('code', mine.code);
    await refusedWith('a code given twice in one form', 'invalid_request', form('/oauth/token', twice));
    await refusedWith(
      'JSON',
      'invalid_request',
      form('/oauth/token', JSON.stringify(body(mine.code, mine.pkce)), { 'content-type': 'application/json' }),
    );
    await refusedWith('an oversized form', 'invalid_request', form('/oauth/token', `a=${'a'.repeat(9000)}`));
    const wrong = { authorization: `Basic ${Buffer.from('shop:wrong').toString('base64')}` };
    await refusedWith('a wrong secret', 'invalid_client', form('/oauth/token', { grant_type: 'refresh_token' }, wrong));
    await refusedWith(
      'a session’s own refresh token',
      'invalid_grant',
      form('/oauth/token', {
        grant_type: 'refresh_token',
        client_id: CLI.id,
        refresh_token: at.ada.tokens().refreshToken,
      }),
    );
    const given = await authorize(DASH);
    await refusedWith('another app’s refresh token', 'invalid_grant', refresh(given.refresh_token));
    expect((await refresh(given.refresh_token, DASH.id)).status).toBe(200);

    console.log(`hostile token requests: n = ${n}, ${accepted} accepted`);
    expect(accepted).toBe(0);
  });

  it('revokes the session of a code that is used a second time, also in parallel', async () => {
    const pkce = ask();
    const { code } = await allow(pkce.request);
    const first = await exchange(code, pkce);
    expect(await statusWith(first.body.access_token!)).toBe(200);
    expect((await exchange(code, pkce)).body.error).toBe('invalid_grant');
    expect(await statusWith(first.body.access_token!)).toBe(401);
    expect((await refresh(first.body.refresh_token!)).status).toBe(400);

    let given = 0;
    for (let race = 0; race < 10; race += 1) {
      const racing = ask();
      const { code } = await allow(racing.request);
      const replies = await Promise.all([1, 2, 3].map(() => exchange(code, racing)));
      const won = replies.filter(({ status }) => status === 200);
      expect(won.length).toBe(1);
      given += won.length;
      expect(await statusWith(won[0]!.body.access_token!)).toBe(401);
    }
    console.log(`races for one code: n = ${given}`);
    expect(given).toBeGreaterThan(0);
  });

  it('revokes the session of an app whose refresh token is reused', async () => {
    const first = await authorize();
    const second = await refresh(first.refresh_token);
    expect(second.status).toBe(200);
    expect((await refresh(first.refresh_token)).body.error).toBe('invalid_grant');
    expect(await statusWith(second.body.access_token!)).toBe(401);
    expect((await refresh(second.body.refresh_token!)).body.error).toBe('invalid_grant');
  });

  it('refuses a code once the user who consented has logged out or was disabled', async () => {
    const eve = await at.app.signUp('Eve');
    const pkce = ask();
    const { code } = await allow(pkce.request, eve);
    await eve.client(api.auth.logout, { refreshToken: eve.tokens().refreshToken });
    expect((await exchange(code, pkce)).body.error).toBe('invalid_grant');

    const ed = await at.app.signUp('Ed');
    const tokens = await authorize(CLI, ed);
    await at.app.ctx.db.updateTable('app_user').set({ disabled_at: new Date() }).where('id', '=', ed.userId).execute();
    expect(await statusWith(tokens.access_token)).toBe(401);
    expect((await refresh(tokens.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('issues refresh tokens that the browser’s refresh call refuses', async () => {
    const { refresh_token } = await authorize();
    expect((await at.app.post('auth/exchange-refresh-token', { refreshToken: refresh_token })).status).toBe(401);
    expect((await refresh(refresh_token)).status).toBe(200);
  });

  it('revokes only the app’s own tokens, and accepts unknown ones', async () => {
    const { access_token } = await authorize(DASH);
    const foreign = await form('/oauth/revoke', { token: access_token, client_id: CLI.id });
    expect([foreign.status, foreign.body.error]).toEqual([400, 'invalid_grant']);
    const own = await form('/oauth/revoke', { token: at.ada.tokens().accessToken, client_id: CLI.id });
    expect(own.status).toBe(400);
    expect(await statusWith(access_token)).toBe(200);
    expect((await form('/oauth/revoke', { token: 'unknown', client_id: CLI.id })).status).toBe(200);
    expect((await form('/oauth/revoke', { token: access_token, client_id: DASH.id })).status).toBe(200);
    expect(await statusWith(access_token)).toBe(401);
  });
});

it('stores no code and no token in the clear', async () => {
  const pkce = ask();
  const { code } = await allow(pkce.request);
  const { body } = await exchange(code, pkce);
  let rows = 0;
  for (const table of ['oauth_code', 'refresh_token', 'session']) {
    const { rows: all } = await sql<{ text: string }>`select t::text as text from ${sql.table(table)} t`.execute(
      at.app.ctx.db,
    );
    for (const { text } of all) {
      rows += 1;
      for (const secret of [code, pkce.verifier, body.refresh_token!, body.access_token!])
        expect(text).not.toContain(secret);
    }
  }
  console.log(`rows without a secret: n = ${rows}`);
  expect(rows).toBeGreaterThan(0);
});
