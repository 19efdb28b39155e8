import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { type IdentityProviderServer, startIdentityProvider } from '../../testing/identityProvider.ts';

/** The platform and a fake provider that it trusts as Google and as GitHub, with authorization requests and callbacks. */
export function providerSignIns() {
  const at = {} as { app: TestApp; there: IdentityProviderServer };
  let people = 0;

  beforeAll(async () => {
    at.there = await startIdentityProvider();
    at.app = await startTestApp(at.there.env);
    at.there.open(at.app.ctx.config.appOrigin);
  });
  afterAll(async () => {
    await at.app?.close();
    await at.there?.close();
  });

  function anAccount(given: { email?: string; emailVerified?: boolean; name?: string } = {}) {
    people += 1;
    const login = `login-${people}`;
    const email = given.email ?? `${login}-${Date.now()}@example.com`;
    at.there.accounts.set(login, { id: 1000 + people, ...given, email });
    return { login, email };
  }

  async function googleCallback(login: string) {
    const { link, state, nonce } = await at.app.anonymous(api.identities.googleLink, {});
    const back = hashOf(await at.there.logIn(link, login));
    expect(back.get('state')).toBe(state);
    return { token: back.get('id_token') ?? '', state, nonce };
  }

  async function githubCallback(login: string) {
    const { link, state } = await at.app.anonymous(api.identities.githubLink, {});
    const back = (await at.there.logIn(link, login)).searchParams;
    expect(back.get('state')).toBe(state);
    return { code: back.get('code') ?? '', state };
  }

  return { at, anAccount, googleCallback, githubCallback };
}

export const hashOf = (back: URL) => new URLSearchParams(back.hash.slice(1));
