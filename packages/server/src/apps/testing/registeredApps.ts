import { createHash, randomBytes } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import type { AuthorizationRequest } from '@stagi/contract/authorizationRequest.ts';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { markSteppedUp } from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';

export const CLI = { id: 'stagi-cli', redirect: 'http://127.0.0.1:4777/callback' };
export const DASH = { id: 'dash', redirect: 'https://dash.example/callback?from=stagi' };
export const SECRET = 'a secret: of + the/shop%';
export const SHOP = { id: 'shop', redirect: 'https://shop.example/back' };

export interface Pkce {
  request: AuthorizationRequest;
  verifier: string;
}

/** An authorization request, and the verifier that the app keeps. */
export function ask(of: { id: string; redirect: string } = CLI, changes: Partial<AuthorizationRequest> = {}): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  const request: AuthorizationRequest = {
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

/** The platform with these apps and the user Ada, and what they do. */
export function registeredApps() {
  const at = {} as { app: TestApp; ada: Person };
  beforeAll(async () => {
    at.app = await startTestApp({
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
    at.ada = await at.app.signUp('Ada');
    await markSteppedUp(at.app.ctx, at.ada);
  });
  afterAll(() => at.app?.close());

  async function allow(request: AuthorizationRequest, person = at.ada) {
    await markSteppedUp(at.app.ctx, person);
    return person.client(api.apps.authorizationCode, request);
  }

  async function form(path: string, body: Record<string, string> | URLSearchParams | string, headers = {}) {
    const reply = await fetch(`${at.app.url}${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : new URLSearchParams(body),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
    return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Record<string, string> };
  }

  const exchange = (code: string, { request, verifier }: Pkce) =>
    form('/oauth/token', {
      grant_type: 'authorization_code',
      client_id: request.client_id,
      code,
      redirect_uri: request.redirect_uri,
      code_verifier: verifier,
    });

  const refresh = (refresh_token: string, client_id = CLI.id) =>
    form('/oauth/token', { grant_type: 'refresh_token', client_id, refresh_token });

  /** The tokens of an app that Ada has authorized. */
  async function authorize(of = CLI, person = at.ada) {
    const pkce = ask(of);
    const { code } = await allow(pkce.request, person);
    const { status, body } = await exchange(code, pkce);
    expect(status).toBe(200);
    return body as { access_token: string; refresh_token: string };
  }

  const callWith = (access_token: string, path = 'user/profile', workspace = at.ada.workspaceId, input: object = {}) =>
    at.app.post(path, input, { authorization: `Bearer ${access_token}`, 'x-client-id': String(workspace) });
  const statusWith = async (access_token: string) => (await callWith(access_token)).status;

  return { at, allow, form, exchange, refresh, authorize, callWith, statusWith };
}
