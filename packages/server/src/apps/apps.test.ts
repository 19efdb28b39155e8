import { api } from '@stagi/contract/api.ts';
import { STREAM_CLOSE } from '@stagi/contract/streams.ts';
import { describe, expect, it } from 'vitest';
import { openEventStream } from '../testing/eventStream.ts';
import { aRentedInstance, markSteppedUp } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { ask, CLI, DASH, registeredApps } from './testing/registeredApps.ts';

const { at, allow, exchange, refresh, authorize, callWith, statusWith } = registeredApps();

describe('a link of an app', () => {
  it('says which app asks and where it is answered, and has a link to deny it', async () => {
    const { request } = ask(DASH);
    const { app: asking, redirectHost, denyLink } = await at.ada.client(api.apps.authorizationRequest, request);
    expect(asking).toMatchObject({ id: 'dash', name: 'Dash', isFirstParty: false });
    expect(redirectHost).toBe('dash.example');
    const iss = at.app.ctx.config.appOrigin;
    expect(denyLink).toBe(
      `${DASH.redirect}&${new URLSearchParams({ error: 'access_denied', state: request.state, iss })}`,
    );
  });

  it('gets an authorization code only after a step-up', async () => {
    const fay = await at.app.signUp('Fay');
    const asking = fay.client(api.apps.authorizationCode, ask().request);
    await expect(asking).rejects.toMatchObject({ status: 403, body: { code: 'step-up' } });
  });

  it('is refused unless it matches a registered app exactly', async () => {
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
    const reply = await fetch(`${at.app.url}/frontend-api/${api.apps.authorizationCode.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${at.ada.tokens().accessToken}` },
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
      expect((await exchange(code, pkce)).status, redirect).toBe(200);
    }
  });

  const callAs = (path: string, input: object) =>
    at.app.post(path, input, { authorization: `Bearer ${at.ada.tokens().accessToken}` });
});

describe('what an app may do', () => {
  it('is what its user may, within the permissions it is registered for, in the one authorized workspace', async () => {
    const bo = await at.app.signUp('Bo');
    const boss = await at.app.signUp('Boss');
    await at.app.ctx.db
      .insertInto('membership')
      .values({ workspace_id: boss.workspaceId, user_id: bo.userId, role: 'Developer' })
      .execute();
    const pkce = ask(DASH);
    await markSteppedUp(at.app.ctx, bo);
    const { code } = await bo.client(api.apps.authorizationCode, {
      ...pkce.request,
      workspace_id: boss.workspaceId,
    });
    const { access_token } = (await exchange(code, pkce)).body as { access_token: string };
    const { body } = await callWith(access_token, 'user/profile', boss.workspaceId);
    const { userProfile } = body as { userProfile: { clientRelations: { clientId: number; permissions: string[] }[] } };
    // The app is registered for billing, but a developer may not.
    expect(userProfile.clientRelations).toMatchObject([
      { clientId: boss.workspaceId, permissions: ['INSTANCE_RENTED', 'INSTANCE_RENTED_MANAGEMENT'] },
    ]);
    expect((await callWith(access_token, 'instance-rented/list', boss.workspaceId)).status).toBe(200);
    expect((await callWith(access_token, 'instance-rented/list', bo.workspaceId)).status).toBe(404);
    expect((await callWith(access_token, 'self-hosted-instance/list', boss.workspaceId)).status).toBe(403);
    await at.app.ctx.db
      .deleteFrom('membership')
      .where('workspace_id', '=', boss.workspaceId)
      .where('user_id', '=', bo.userId)
      .execute();
    // It was revoked with the membership, and stays so when the user joins again.
    expect((await callWith(access_token, 'instance-rented/list', boss.workspaceId)).status).toBe(401);
    const foreign = await at.app.post(
      api.apps.authorizationCode.path,
      { ...ask(DASH).request, workspace_id: boss.workspaceId },
      { authorization: `Bearer ${bo.tokens().accessToken}` },
    );
    expect(foreign.status).toBe(404);
  });

  it('ends on its open streams too, as soon as its consent is revoked', async () => {
    const { access_token } = await authorize(DASH);
    const { body } = await callWith(access_token, 'stream-ticket');
    const { ticket } = body as { ticket: string };
    const events = await openEventStream(at.app.url, ticket);
    const { entities } = await at.ada.client(api.apps.consents, { entityFilterRequest: { queryString: DASH.id } });
    await at.ada.client(api.apps.revokeConsent, { id: entities[0]!.id });
    expect(await events.closed).toBe(STREAM_CLOSE.signedOut);
    expect(await statusWith(access_token)).toBe(401);
  });

  it('never includes the account’s own calls or an operator’s', async () => {
    await at.app.ctx.db.updateTable('app_user').set({ is_employee: true }).where('id', '=', at.ada.userId).execute();
    const { access_token } = await authorize();
    await aRentedInstance(at.app.ctx, at.ada);
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

describe('the apps that a user has authorized', () => {
  it('are listed to them only, apart from their browsers, and revoked one by one', async () => {
    const cleo = await at.app.signUp('Cleo');
    const cli = await authorize(CLI, cleo);
    const dash = await authorize(DASH, cleo);
    const list = async (queryString?: string) =>
      (await cleo.client(api.apps.consents, { entityFilterRequest: { queryString } })).entities;
    const [newest, oldest] = await list();
    expect(newest).toMatchObject({
      app: { id: 'dash', name: 'Dash' },
      workspace: { clientId: cleo.workspaceId },
      permissions: ['INSTANCE_RENTED', 'INSTANCE_RENTED_MANAGEMENT', 'BILLING'],
    });
    expect(oldest).toMatchObject({ app: { id: 'stagi-cli', isFirstParty: true }, workspace: null, permissions: null });
    const outbox = await fetch(`${at.app.url}/dev/mail/list`, { method: 'POST' });
    const { mails } = (await outbox.json()) as { mails: { to: string; subject: string }[] };
    expect(mails.filter(({ to }) => to === cleo.email).map(({ subject }) => subject)).toContain(
      'Dash was connected to your Stagi account',
    );
    expect((await list('das')).map(({ app }) => app.id)).toEqual(['dash']);
    expect((await cleo.client(api.sessions.list, {})).totalCount).toBe(1);

    const id = newest!.id;
    const foreign = await at.app.post('authorization/consent/revoke', { id }, bearer(at.ada));
    expect(foreign.status).toBe(404);
    const { entities } = await cleo.client(api.sessions.list, {});
    const browser = await at.app.post('authorization/consent/revoke', { id: entities[0]!.id }, bearer(cleo));
    expect(browser.status).toBe(404);
    await cleo.client(api.apps.revokeConsent, { id });
    await cleo.client(api.apps.revokeConsent, { id });
    const { entities: log } = await cleo.client(api.audit.list, {});
    expect(log.map(({ action, detail }) => [action, detail.app])).toEqual([
      [api.apps.revokeConsent.path, 'dash'],
      [api.apps.authorizationCode.path, 'dash'],
    ]);
    expect(await statusWith(dash.access_token)).toBe(401);
    expect((await refresh(dash.refresh_token, DASH.id)).status).toBe(400);
    expect(await statusWith(cli.access_token)).toBe(200);
    expect((await list()).length).toBe(1);

    // Revoking other browsers keeps the apps; a new password revokes them too.
    await markSteppedUp(at.app.ctx, cleo);
    expect((await cleo.client(api.sessions.revoke, { others: true })).ended).toBe(0);
    expect(await statusWith(cli.access_token)).toBe(200);
    const passwords = { currentPassword: 'Correct-horse-7', newPassword: 'Another-horse-8' };
    await cleo.client(api.auth.changePassword, passwords);
    expect(await statusWith(cli.access_token)).toBe(401);
  });

  const bearer = (person: Person) => ({ authorization: `Bearer ${person.tokens().accessToken}` });
});
