import { createHash, randomBytes } from 'node:crypto';
import { OAuth2Client } from '@badgateway/oauth2-client';
import { api } from '@stagi/contract/api.ts';
import type { HandOff } from '@stagi/contract/handOff.ts';
import { sql } from 'kysely';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aRentedInstance, haveSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

const CLI = { id: 'stagi-cli', redirect: 'http://127.0.0.1:4777/callback' };
const DASH = { id: 'dash', redirect: 'https://dash.example/callback?from=stagi' };
const SECRET = 'a secret: of + the/shop%';
const SHOP = { id: 'shop', redirect: 'https://shop.example/back' };

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await startTestApp({
    OAUTH_APPS: JSON.stringify([
      {
        clientId: DASH.id,
        name: 'Dash',
        redirectUris: [DASH.redirect],
        permissions: ['INSTANCE_RENTED', 'INSTANCE_RENTED_MANAGEMENT', 'BILLING'],
      },
      {
        clientId: SHOP.id,
        name: 'Shop',
        redirectUris: [SHOP.redirect],
        permissions: ['BASIC_ACTIONS'],
        secretSha256: createHash('sha256').update(SECRET).digest('hex'),
      },
    ]),
  });
  ada = await app.signUp('Ada');
  await haveSteppedUp(app.ctx, ada);
});
afterAll(() => app?.close());

interface Pkce {
  request: HandOff;
  verifier: string;
}

function ask(of: { id: string; redirect: string } = CLI, changes: Partial<HandOff> = {}): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  const request: HandOff = {
    client_id: of.id,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    redirect_uri: of.redirect,
    response_type: 'code',
    state: randomBytes(8).toString('hex'),
    ...changes,
  };
  return { request, verifier };
}

async function allow(request: HandOff, person = ada) {
  await haveSteppedUp(app.ctx, person);
  return person.client(api.apps.authorizationCode, request);
}

async function form(path: string, body: Record<string, string> | URLSearchParams | string, headers = {}) {
  const reply = await fetch(`${app.url}${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : new URLSearchParams(body),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
  return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Record<string, string> };
}

const trade = (code: string, { request, verifier }: Pkce) =>
  form('/oauth/token', {
    grant_type: 'authorization_code',
    client_id: request.client_id,
    code,
    redirect_uri: request.redirect_uri,
    code_verifier: verifier,
  });

const renew = (refresh_token: string, client_id = CLI.id) =>
  form('/oauth/token', { grant_type: 'refresh_token', client_id, refresh_token });

/** Tokens as an app gets them. */
async function letIn(of = CLI, person = ada) {
  const pkce = ask(of);
  const { code } = await allow(pkce.request, person);
  const { status, body } = await trade(code, pkce);
  expect(status).toBe(200);
  return body as { access_token: string; refresh_token: string };
}

const callWith = (access_token: string, path = 'user/profile', workspace = ada.workspaceId, input: object = {}) =>
  app.post(path, input, { authorization: `Bearer ${access_token}`, 'x-client-id': String(workspace) });
const statusWith = async (access_token: string) => (await callWith(access_token)).status;

describe('two libraries of others', () => {
  const unexpected = (name: string) => ({ message: expect.stringMatching(new RegExp(`unexpected "${name}"`)) });

  it('openid-client finds the server, completes the flow, renews and revokes', async () => {
    const config = await openid.discovery(new URL(app.ctx.config.appOrigin), CLI.id, undefined, openid.None(), {
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
    const answer = await allow(Object.fromEntries(link.searchParams) as unknown as HandOff);
    // The library refuses an answer of another issuer or with another state by itself.
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

  it('@badgateway/oauth2-client does too, with and without a secret of its own', async () => {
    for (const { of, clientSecret } of [{ of: CLI }, { of: SHOP, clientSecret: SECRET }]) {
      const client = new OAuth2Client({ server: app.ctx.config.appOrigin, clientId: of.id, clientSecret });
      const codeVerifier = randomBytes(32).toString('base64url');
      const state = randomBytes(8).toString('hex');
      const uri = await client.authorizationCode.getAuthorizeUri({ redirectUri: of.redirect, state, codeVerifier });
      const { link } = await allow(Object.fromEntries(new URL(uri).searchParams) as unknown as HandOff);
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

describe('a link of an app', () => {
  it('says who asks and where they are answered, and has a link that tells them no', async () => {
    const { request } = ask(DASH);
    const { app: asking, redirectHost, denyLink } = await ada.client(api.apps.authorizationRequest, request);
    expect(asking).toMatchObject({ id: 'dash', name: 'Dash', isFirstParty: false });
    expect(redirectHost).toBe('dash.example');
    const iss = app.ctx.config.appOrigin;
    expect(denyLink).toBe(
      `${DASH.redirect}&${new URLSearchParams({ error: 'access_denied', state: request.state, iss })}`,
    );
  });

  it('gets its code from somebody only who has just shown that it is them', async () => {
    const fay = await app.signUp('Fay');
    const asking = fay.client(api.apps.authorizationCode, ask().request);
    await expect(asking).rejects.toMatchObject({ status: 403, body: { code: 'step-up' } });
  });

  it('is refused wherever it is not exactly one of a registered app', async () => {
    const { request } = ask();
    const hostile: [string, object][] = [
      ['method plain', { code_challenge_method: 'plain' }],
      ['no method', { code_challenge_method: undefined }],
      ['no challenge', { code_challenge: undefined }],
      ['short challenge', { code_challenge: 'abc' }],
      ['implicit flow', { response_type: 'token' }],
      ['unknown app', { client_id: 'nobody' }],
      ['app called __proto__', { client_id: '__proto__' }],
      ['app called constructor', { client_id: 'constructor' }],
      ['no state', { state: '' }],
      ['oversized state', { state: 's'.repeat(1001) }],
      ['oversized redirect', { redirect_uri: `http://127.0.0.1/callback?${'x'.repeat(500)}` }],
      ['state with a line break', { state: 'a\r\nlocation: https://evil.example' }],
      ['unknown member', { scope: 'all' }],
      ['a list', { client_id: [CLI.id] }],
      ...[
        'javascript:alert(1)//127.0.0.1/callback',
        'data:text/html,hi',
        'https://127.0.0.1/callback',
        'http://127.0.0.1:4777/callback/',
        'http://127.0.0.1:4777/callback?x=1',
        'http://127.0.0.1:4777/callback#x',
        'http://127.0.0.1:4777/Callback',
        'http://127.0.0.1:4777/callback/../evil',
        'http://127.0.0.1:4777@evil.example/callback',
        'http://127.0.0.1:123456/callback',
        'http://127.0.0.1.evil.example/callback',
        'http://127.0.0.2/callback',
        'http://localhost:4777/callback',
        'http://0x7f.1/callback',
        'http://127.0.0.1\\@evil.example/callback',
        'http://user@127.0.0.1/callback',
        '//127.0.0.1/callback',
        '/callback',
        DASH.redirect,
      ].map((uri): [string, object] => [`redirect to ${uri}`, { redirect_uri: uri }]),
    ];
    let accepted = 0;
    for (const [name, changes] of hostile) {
      for (const path of [api.apps.authorizationCode.path, api.apps.authorizationRequest.path]) {
        const reply = await callAs(path, { ...request, ...changes });
        expect.soft(reply.status, name).toBe(400);
        expect.soft(JSON.stringify(reply.body), name).not.toMatch(/"(code|link|denyLink)"/);
        if (reply.status === 200) accepted += 1;
      }
    }
    const proto = `${JSON.stringify(request).slice(0, -1)},"__proto__":{"redirect_uri":"https://evil.example"}}`;
    const reply = await fetch(`${app.url}/frontend-api/${api.apps.authorizationCode.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ada.tokens().accessToken}` },
      body: proto,
    });
    expect(reply.status).toBe(400);
    const n = hostile.length * 2 + 1;
    console.log(`hostile links of apps: n = ${n}, ${accepted} accepted`);
    expect(accepted).toBe(0);
  });

  it('may name any port of this machine, and either loopback address', async () => {
    for (const redirect of [
      'http://127.0.0.1/callback',
      'http://127.0.0.1:1/callback',
      'http://[::1]:65535/callback',
    ]) {
      const pkce = ask({ ...CLI, redirect });
      const { code } = await allow(pkce.request);
      expect((await trade(code, pkce)).status, redirect).toBe(200);
    }
  });

  const callAs = (path: string, input: object) =>
    app.post(path, input, { authorization: `Bearer ${ada.tokens().accessToken}` });
});

describe('the token endpoint', () => {
  it('gives nothing to anybody but the app that asked, once, in time', async () => {
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
    await sql`update oauth_code set expires_at = now() where used_at is null`.execute(app.ctx.db);
    await refusedWith('an expired code', 'invalid_grant', trade(late.code, late.pkce));

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
        refresh_token: ada.tokens().refreshToken,
      }),
    );
    const given = await letIn(DASH);
    await refusedWith('another app’s refresh token', 'invalid_grant', renew(given.refresh_token));
    expect((await renew(given.refresh_token, DASH.id)).status).toBe(200);

    console.log(`hostile token requests: n = ${n}, ${accepted} accepted`);
    expect(accepted).toBe(0);
  });

  it('ends what a code gave when it comes a second time, also when both come at once', async () => {
    const pkce = ask();
    const { code } = await allow(pkce.request);
    const first = await trade(code, pkce);
    expect(await statusWith(first.body.access_token!)).toBe(200);
    expect((await trade(code, pkce)).body.error).toBe('invalid_grant');
    expect(await statusWith(first.body.access_token!)).toBe(401);
    expect((await renew(first.body.refresh_token!)).status).toBe(400);

    let given = 0;
    for (let race = 0; race < 10; race += 1) {
      const racing = ask();
      const { code } = await allow(racing.request);
      const replies = await Promise.all([1, 2, 3].map(() => trade(code, racing)));
      const won = replies.filter(({ status }) => status === 200);
      expect(won.length).toBe(1);
      given += won.length;
      expect(await statusWith(won[0]!.body.access_token!)).toBe(401);
    }
    console.log(`races for one code: n = ${given}`);
    expect(given).toBeGreaterThan(0);
  });

  it('ends everything of an app whose used refresh token comes back', async () => {
    const first = await letIn();
    const second = await renew(first.refresh_token);
    expect(second.status).toBe(200);
    expect((await renew(first.refresh_token)).body.error).toBe('invalid_grant');
    expect(await statusWith(second.body.access_token!)).toBe(401);
    expect((await renew(second.body.refresh_token!)).body.error).toBe('invalid_grant');
  });

  it('gives no code’s worth once whoever allowed it has logged out or was disabled', async () => {
    const eve = await app.signUp('Eve');
    const pkce = ask();
    const { code } = await allow(pkce.request, eve);
    await eve.client(api.auth.logout, { refreshToken: eve.tokens().refreshToken });
    expect((await trade(code, pkce)).body.error).toBe('invalid_grant');

    const ed = await app.signUp('Ed');
    const tokens = await letIn(CLI, ed);
    await app.ctx.db.updateTable('app_user').set({ disabled_at: new Date() }).where('id', '=', ed.userId).execute();
    expect(await statusWith(tokens.access_token)).toBe(401);
    expect((await renew(tokens.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('leaves the browser’s calls to the browser: an app’s refresh token is none of a session', async () => {
    const { refresh_token } = await letIn();
    expect((await app.post('auth/exchange-refresh-token', { refreshToken: refresh_token })).status).toBe(401);
    expect((await renew(refresh_token)).status).toBe(200);
  });

  it('revokes only what the app was given itself, and is content with what it does not know', async () => {
    const { access_token } = await letIn(DASH);
    const foreign = await form('/oauth/revoke', { token: access_token, client_id: CLI.id });
    expect([foreign.status, foreign.body.error]).toEqual([400, 'invalid_grant']);
    const own = await form('/oauth/revoke', { token: ada.tokens().accessToken, client_id: CLI.id });
    expect(own.status).toBe(400);
    expect(await statusWith(access_token)).toBe(200);
    expect((await form('/oauth/revoke', { token: 'unknown', client_id: CLI.id })).status).toBe(200);
    expect((await form('/oauth/revoke', { token: access_token, client_id: DASH.id })).status).toBe(200);
    expect(await statusWith(access_token)).toBe(401);
  });
});

describe('what an app may do', () => {
  it('is what its user may, of what it is registered for, in the one workspace it was let into', async () => {
    const bo = await app.signUp('Bo');
    const boss = await app.signUp('Boss');
    await app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: boss.workspaceId, user_id: bo.userId, role: 'Developer' })
      .execute();
    const pkce = ask(DASH);
    await haveSteppedUp(app.ctx, bo);
    const { code } = await bo.client(api.apps.authorizationCode, {
      ...pkce.request,
      workspace_id: boss.workspaceId,
    });
    const { access_token } = (await trade(code, pkce)).body as { access_token: string };
    const { body } = await callWith(access_token, 'user/profile', boss.workspaceId);
    const { userProfile } = body as { userProfile: { clientRelations: { clientId: number; permissions: string[] }[] } };
    // Billing is the app's, but no developer's.
    expect(userProfile.clientRelations).toMatchObject([
      { clientId: boss.workspaceId, permissions: ['INSTANCE_RENTED', 'INSTANCE_RENTED_MANAGEMENT'] },
    ]);
    expect((await callWith(access_token, 'instance-rented/list', boss.workspaceId)).status).toBe(200);
    expect((await callWith(access_token, 'instance-rented/list', bo.workspaceId)).status).toBe(404);
    expect((await callWith(access_token, 'self-hosted-instance/list', boss.workspaceId)).status).toBe(403);
    await app.ctx.db
      .deleteFrom('membership')
      .where('workspace_id', '=', boss.workspaceId)
      .where('user_id', '=', bo.userId)
      .execute();
    // It has ended with the membership, and stays so when they come back.
    expect((await callWith(access_token, 'instance-rented/list', boss.workspaceId)).status).toBe(401);
    const foreign = await app.post(
      api.apps.authorizationCode.path,
      { ...ask(DASH).request, workspace_id: boss.workspaceId },
      { authorization: `Bearer ${bo.tokens().accessToken}` },
    );
    expect(foreign.status).toBe(404);
  });

  it('ends on its open streams too, as soon as it is shut out', async () => {
    const { access_token } = await letIn(DASH);
    const { body } = await callWith(access_token, 'stream-ticket');
    const { ticket } = body as { ticket: string };
    const stream = await fetch(`${app.url}/frontend-api/events?${new URLSearchParams({ ticket })}`);
    expect(stream.status).toBe(200);
    const reader = stream.body!.getReader();
    await reader.read();
    const { entities } = await ada.client(api.apps.consents, { entityFilterRequest: { queryString: DASH.id } });
    await ada.client(api.apps.revokeConsent, { id: entities[0]!.id });
    // Nothing else ends it, so the test's own time is the limit.
    while (!(await reader.read()).done);
    expect(await statusWith(access_token)).toBe(401);
  });

  it('is never identity, and never staff’s', async () => {
    await app.ctx.db.updateTable('app_user').set({ is_employee: true }).where('id', '=', ada.userId).execute();
    const { access_token } = await letIn();
    await aRentedInstance(app.ctx, ada);
    expect((await callWith(access_token, 'instance-rented/list')).status).toBe(200);
    for (const path of [
      'auth/session/list',
      'authorization/consent/list',
      'user/edit',
      'user/add-password',
      'auth/email/change-password',
      'admin/stray/list',
    ]) {
      expect((await callWith(access_token, path)).status, path).toBe(403);
    }
    expect((await callWith(access_token, api.apps.authorizationCode.path, undefined, ask().request)).status).toBe(403);
  });
});

describe('the apps that somebody has let in', () => {
  it('are listed to them alone, apart from their browsers, and shut out one by one', async () => {
    const cleo = await app.signUp('Cleo');
    const cli = await letIn(CLI, cleo);
    const dash = await letIn(DASH, cleo);
    const list = async (queryString?: string) =>
      (await cleo.client(api.apps.consents, { entityFilterRequest: { queryString } })).entities;
    const [newest, oldest] = await list();
    expect(newest).toMatchObject({
      app: { id: 'dash', name: 'Dash' },
      workspace: { clientId: cleo.workspaceId },
      permissions: ['INSTANCE_RENTED', 'INSTANCE_RENTED_MANAGEMENT', 'BILLING'],
    });
    expect(oldest).toMatchObject({ app: { id: 'stagi-cli', isFirstParty: true }, workspace: null, permissions: null });
    const outbox = await fetch(`${app.url}/dev/mail/list`, { method: 'POST' });
    const { mails } = (await outbox.json()) as { mails: { to: string; subject: string }[] };
    expect(mails.filter(({ to }) => to === cleo.email).map(({ subject }) => subject)).toContain(
      'Dash can now work with your Stagi account',
    );
    expect((await list('das')).map(({ app }) => app.id)).toEqual(['dash']);
    expect((await cleo.client(api.sessions.list, {})).totalCount).toBe(1);

    const id = newest!.id;
    const foreign = await app.post('authorization/consent/revoke', { id }, bearer(ada));
    expect(foreign.status).toBe(404);
    const { entities } = await cleo.client(api.sessions.list, {});
    const browser = await app.post('authorization/consent/revoke', { id: entities[0]!.id }, bearer(cleo));
    expect(browser.status).toBe(404);
    await cleo.client(api.apps.revokeConsent, { id });
    await cleo.client(api.apps.revokeConsent, { id });
    const { entities: log } = await cleo.client(api.audit.list, {});
    expect(log.map(({ action, detail }) => [action, detail.app])).toEqual([
      [api.apps.revokeConsent.path, 'dash'],
      [api.apps.authorizationCode.path, 'dash'],
    ]);
    expect(await statusWith(dash.access_token)).toBe(401);
    expect((await renew(dash.refresh_token, DASH.id)).status).toBe(400);
    expect(await statusWith(cli.access_token)).toBe(200);
    expect((await list()).length).toBe(1);

    // Other browsers go without the apps; a new password ends them too.
    expect((await cleo.client(api.sessions.revoke, { others: true })).ended).toBe(0);
    expect(await statusWith(cli.access_token)).toBe(200);
    const passwords = { currentPassword: 'Correct-horse-7', newPassword: 'Another-horse-8' };
    await cleo.client(api.auth.changePassword, passwords);
    expect(await statusWith(cli.access_token)).toBe(401);
  });

  const bearer = (person: Person) => ({ authorization: `Bearer ${person.tokens().accessToken}` });
});

it('keeps no code and no token where it could be read', async () => {
  const pkce = ask();
  const { code } = await allow(pkce.request);
  const { body } = await trade(code, pkce);
  let rows = 0;
  for (const table of ['oauth_code', 'refresh_token', 'session']) {
    const { rows: all } = await sql<{ text: string }>`select t::text as text from ${sql.table(table)} t`.execute(
      app.ctx.db,
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
