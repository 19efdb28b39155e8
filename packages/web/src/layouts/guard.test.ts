import { handOffQuery } from '@stagi/contract/handOff.ts';
import { ROLE_PERMISSIONS } from '@stagi/contract/permissions.ts';
import { pageExists, ROUTES } from '@stagi/contract/routes.ts';
import { describe, expect, it } from 'vitest';
import { cloudTarget, guard, type Visitor } from './guard.ts';

const at = (path: string) => new URL(path, 'http://localhost:4400');
const anonymous: Visitor = { is: 'anonymous', permissions: [] };
const owner: Visitor = { is: 'here', permissions: ROLE_PERMISSIONS.Owner };
const guest: Visitor = { is: 'here', permissions: ROLE_PERMISSIONS.Guest };

describe('the guard of routes', () => {
  it('sends a visitor without a session to sign-in and keeps query and hash for the way back', () => {
    const verdict = guard(ROUTES.container, anonymous, at('/cloud/containers/7/logs?q=a&b=1#end'));
    expect(verdict).toEqual({
      go: 'elsewhere',
      to: '/sign-in?returnUrl=%2Fcloud%2Fcontainers%2F7%2Flogs%3Fq%3Da%26b%3D1%23end',
    });
  });

  it('lets everybody see public pages', () => {
    for (const route of [ROUTES.home, ROUTES.signIn, ROUTES.signUp, ROUTES.confirmation, ROUTES.forbidden]) {
      expect(guard(route, anonymous, at(route.path))).toEqual({ go: 'in' });
    }
  });

  it('sends a signed-in visitor of the start page to the cloud', () => {
    expect(guard(ROUTES.home, owner, at('/'))).toEqual({ go: 'elsewhere', to: '/cloud' });
  });

  it('leads from sign-in to the return address, and never off the site', () => {
    const after = (query: string) => guard(ROUTES.signIn, owner, at(`/sign-in${query}`));
    expect(after('?returnUrl=%2Fcloud%2Finstances%3Fq%3Dx')).toEqual({ go: 'elsewhere', to: '/cloud/instances?q=x' });
    expect(after('')).toEqual({ go: 'elsewhere', to: '/' });
    for (const evil of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)']) {
      expect(after(`?returnUrl=${encodeURIComponent(evil)}`)).toEqual({ go: 'elsewhere', to: '/' });
    }
  });

  it('leads an app’s request to the consent page, by way of signing in', () => {
    const query = handOffQuery({
      client_id: 'stagi-cli',
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'S256',
      redirect_uri: 'http://127.0.0.1:4777/callback',
      response_type: 'code',
      state: 's',
    });
    const consent = `/consent?${query}`;
    const ways = [
      `?${query}`,
      `#${query}`,
      `?state=${btoa(JSON.stringify(Object.fromEntries(new URLSearchParams(query))))}`,
    ];
    for (const way of ways) {
      for (const route of [ROUTES.signIn, ROUTES.home, ROUTES.instances, ROUTES.forbidden])
        expect(guard(route, owner, at(route.path + way))).toEqual({ go: 'elsewhere', to: consent });
      expect(guard(ROUTES.instances, anonymous, at(`/cloud/instances${way}`))).toEqual({
        go: 'elsewhere',
        to: `/sign-in?${new URLSearchParams({ returnUrl: consent })}`,
      });
      expect(guard(ROUTES.signUp, anonymous, at(`/sign-up${way}`))).toEqual({
        go: 'elsewhere',
        to: `/sign-up?${new URLSearchParams({ returnUrl: consent })}`,
      });
    }
    expect(guard(ROUTES.consent, owner, at(consent))).toEqual({ go: 'in' });
    expect(guard(ROUTES.consent, anonymous, at(consent))).toMatchObject({ go: 'elsewhere' });
    expect(guard(ROUTES.signIn, owner, at(`/sign-in?${new URLSearchParams({ returnUrl: consent })}`))).toEqual({
      go: 'elsewhere',
      to: consent,
    });
    expect(guard(ROUTES.signIn, anonymous, at(`/sign-in?${new URLSearchParams({ returnUrl: consent })}`))).toEqual({
      go: 'in',
    });
  });

  it('leads somebody signed in with half a request to where models are, its query kept', () => {
    const to = `${pageExists('/models') ? '/models' : '/cloud'}?client_id=x&state=1`;
    expect(guard(ROUTES.signIn, owner, at('/sign-in?client_id=x&state=1'))).toEqual({ go: 'elsewhere', to });
    expect(guard(ROUTES.signIn, anonymous, at('/sign-in?client_id=x&state=1'))).toEqual({ go: 'in' });
  });

  it('has somebody new fill in the form first, once, and then leads on to where they wanted to go', () => {
    const somebodyNew: Visitor = { ...owner, isNew: true };
    const form = '/sign-up/form?returnUrl=%2Fcloud%2Finstances%3Fq%3Dx%23y';
    expect(guard(ROUTES.instances, somebodyNew, at('/cloud/instances?q=x#y'))).toEqual({ go: 'elsewhere', to: form });
    expect(guard(ROUTES.signUpForm, somebodyNew, at(form))).toEqual({ go: 'in' });
    expect(guard(ROUTES.forbidden, somebodyNew, at('/403'))).toEqual({ go: 'in' });
    expect(guard(ROUTES.signUpForm, owner, at(form))).toEqual({ go: 'elsewhere', to: '/cloud/instances?q=x#y' });
    expect(guard(ROUTES.signUpForm, owner, at('/sign-up/form?returnUrl=//evil.example'))).toEqual({
      go: 'elsewhere',
      to: '/',
    });
    expect(guard(ROUTES.signUpForm, anonymous, at('/sign-up/form'))).toEqual({
      go: 'elsewhere',
      to: '/sign-in?returnUrl=%2Fsign-up%2Fform',
    });
    expect(guard(ROUTES.signUpForm, { is: 'loading', permissions: [] }, at(form))).toEqual({ go: 'wait' });
  });

  it('waits for the profile before it decides', () => {
    const loading: Visitor = { is: 'loading', permissions: [] };
    expect(guard(ROUTES.instances, loading, at('/cloud/instances'))).toEqual({ go: 'wait' });
    expect(guard(ROUTES.forbidden, loading, at('/403'))).toEqual({ go: 'wait' });
    const handOff = { path: '/auth/:name', layout: 'default', public: true, title: '' } as const;
    expect(guard(handOff, loading, at('/auth/github?code=1'))).toEqual({ go: 'in' });
    expect(guard({ ...handOff, layout: 'docs' }, loading, at('/auth/github'))).toEqual({ go: 'wait' });
  });

  it('offers a retry where the profile cannot be had, but not on public pages', () => {
    const failed: Visitor = { is: 'failed', permissions: [] };
    expect(guard(ROUTES.instances, failed, at('/cloud/instances'))).toEqual({ go: 'error' });
    expect(guard(ROUTES.forbidden, failed, at('/403'))).toEqual({ go: 'in' });
  });

  it('sends a member without the permission to /403', () => {
    expect(guard(ROUTES.instances, guest, at('/cloud/instances'))).toEqual({
      go: 'elsewhere',
      to: '/403',
      lacks: ROUTES.instances,
    });
    expect(guard(ROUTES.account, guest, at('/profile/account'))).toEqual({ go: 'in' });
  });

  it('leads from /cloud to what the member may manage, else to the profile', () => {
    expect(cloudTarget(ROLE_PERMISSIONS.Developer)).toBe('/cloud/instances');
    expect(cloudTarget(['SELFHOSTED_INSTANCE_MANAGEMENT'])).toBe('/cloud/self-instances');
    expect(cloudTarget(ROLE_PERMISSIONS.Billing)).toBe('/profile');
  });
});
