import { authorizationRequestQuery } from '@stagi/contract/authorizationRequest.ts';
import { ROLE_PERMISSIONS } from '@stagi/contract/permissions.ts';
import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import { describe, expect, it } from 'vitest';
import { cloudLandingPath, guardRoute, type Visitor } from './routeGuard.ts';

const at = (path: string) => new URL(path, 'http://localhost:4400');
const anonymous: Visitor = { is: 'anonymous', permissions: [] };
const owner: Visitor = { is: 'signed-in', permissions: ROLE_PERMISSIONS.Owner };
const guest: Visitor = { is: 'signed-in', permissions: ROLE_PERMISSIONS.Guest };

describe('the guard of routes', () => {
  it('sends a visitor without a session to sign-in and keeps query and hash for the way back', () => {
    const verdict = guardRoute(ROUTES.container, anonymous, at('/cloud/containers/7/logs?q=a&b=1#end'));
    expect(verdict).toEqual({
      outcome: 'redirect',
      to: '/sign-in?returnUrl=%2Fcloud%2Fcontainers%2F7%2Flogs%3Fq%3Da%26b%3D1%23end',
    });
  });

  it('lets everybody see public pages', () => {
    for (const route of [ROUTES.home, ROUTES.signIn, ROUTES.signUp, ROUTES.confirmation, ROUTES.forbidden]) {
      expect(guardRoute(route, anonymous, at(route.path))).toEqual({ outcome: 'allow' });
    }
  });

  it('sends a signed-in visitor of the start page to the models', () => {
    expect(guardRoute(ROUTES.home, owner, at('/'))).toEqual({ outcome: 'redirect', to: '/models' });
  });

  it('leads from sign-in to the return address, and never off the site', () => {
    const after = (query: string) => guardRoute(ROUTES.signIn, owner, at(`/sign-in${query}`));
    expect(after('?returnUrl=%2Fcloud%2Finstances%3Fq%3Dx')).toEqual({
      outcome: 'redirect',
      to: '/cloud/instances?q=x',
    });
    expect(after('')).toEqual({ outcome: 'redirect', to: '/' });
    for (const evil of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)']) {
      expect(after(`?returnUrl=${encodeURIComponent(evil)}`)).toEqual({ outcome: 'redirect', to: '/' });
    }
  });

  it('leaves for a return address outside of this origin only as the allow-list says', () => {
    const allowed = ['https://docs.example/app'];
    const after = (route: Route, returnUrl: string, visitor = owner) =>
      guardRoute(route, visitor, at(`${route.path}?${new URLSearchParams({ returnUrl })}`), allowed);
    for (const route of [ROUTES.signIn, ROUTES.secondFactor, ROUTES.signUp, ROUTES.confirmation, ROUTES.recovery]) {
      expect(after(route, 'https://docs.example/app/1?a=b')).toEqual({
        outcome: 'leave',
        to: 'https://docs.example/app/1?a=b',
      });
      expect(after(route, 'https://docs.example/apple')).toEqual({ outcome: 'redirect', to: '/' });
      expect(after(route, '/cloud/instances')).toEqual({ outcome: 'redirect', to: '/cloud/instances' });
      expect(after(route, 'https://docs.example/app/1', anonymous)).toEqual({ outcome: 'allow' });
    }
    expect(after(ROUTES.signUpForm, 'https://docs.example/app/1').outcome).toBe('leave');
    expect(after(ROUTES.instances, 'https://docs.example/app/1')).toEqual({ outcome: 'allow' });
  });

  it('leads an app’s request to the consent page, by way of signing in', () => {
    const query = authorizationRequestQuery({
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
        expect(guardRoute(route, owner, at(route.path + way))).toEqual({ outcome: 'redirect', to: consent });
      expect(guardRoute(ROUTES.instances, anonymous, at(`/cloud/instances${way}`))).toEqual({
        outcome: 'redirect',
        to: `/sign-in?${new URLSearchParams({ returnUrl: consent })}`,
      });
      expect(guardRoute(ROUTES.signUp, anonymous, at(`/sign-up${way}`))).toEqual({
        outcome: 'redirect',
        to: `/sign-up?${new URLSearchParams({ returnUrl: consent })}`,
      });
    }
    expect(guardRoute(ROUTES.consent, owner, at(consent))).toEqual({ outcome: 'allow' });
    expect(guardRoute(ROUTES.consent, anonymous, at(consent))).toMatchObject({ outcome: 'redirect' });
    expect(guardRoute(ROUTES.signIn, owner, at(`/sign-in?${new URLSearchParams({ returnUrl: consent })}`))).toEqual({
      outcome: 'redirect',
      to: consent,
    });
    expect(guardRoute(ROUTES.signIn, anonymous, at(`/sign-in?${new URLSearchParams({ returnUrl: consent })}`))).toEqual(
      {
        outcome: 'allow',
      },
    );
  });

  it('leads somebody signed in with half a request to where models are, its query kept', () => {
    const to = '/models?client_id=x&state=1';
    expect(guardRoute(ROUTES.signIn, owner, at('/sign-in?client_id=x&state=1'))).toEqual({ outcome: 'redirect', to });
    expect(guardRoute(ROUTES.signIn, anonymous, at('/sign-in?client_id=x&state=1'))).toEqual({ outcome: 'allow' });
  });

  it('has somebody new fill in the form first, once, and then leads on to where they wanted to go', () => {
    const somebodyNew: Visitor = { ...owner, isNew: true };
    const form = '/sign-up/form?returnUrl=%2Fcloud%2Finstances%3Fq%3Dx%23y';
    expect(guardRoute(ROUTES.instances, somebodyNew, at('/cloud/instances?q=x#y'))).toEqual({
      outcome: 'redirect',
      to: form,
    });
    expect(guardRoute(ROUTES.signUpForm, somebodyNew, at(form))).toEqual({ outcome: 'allow' });
    expect(guardRoute(ROUTES.forbidden, somebodyNew, at('/403'))).toEqual({ outcome: 'allow' });
    expect(guardRoute(ROUTES.models, somebodyNew, at('/models'))).toEqual({
      outcome: 'redirect',
      to: '/sign-up/form?returnUrl=%2Fmodels',
    });
    expect(guardRoute(ROUTES.signUpForm, owner, at(form))).toEqual({
      outcome: 'redirect',
      to: '/cloud/instances?q=x#y',
    });
    expect(guardRoute(ROUTES.signUpForm, owner, at('/sign-up/form?returnUrl=//evil.example'))).toEqual({
      outcome: 'redirect',
      to: '/',
    });
    expect(guardRoute(ROUTES.signUpForm, anonymous, at('/sign-up/form'))).toEqual({
      outcome: 'redirect',
      to: '/sign-in?returnUrl=%2Fsign-up%2Fform',
    });
    expect(guardRoute(ROUTES.signUpForm, { is: 'loading', permissions: [] }, at(form))).toEqual({ outcome: 'wait' });
  });

  it('waits for the profile before it decides', () => {
    const loading: Visitor = { is: 'loading', permissions: [] };
    expect(guardRoute(ROUTES.instances, loading, at('/cloud/instances'))).toEqual({ outcome: 'wait' });
    expect(guardRoute(ROUTES.forbidden, loading, at('/403'))).toEqual({ outcome: 'wait' });
    const handOff = { path: '/auth/:name', layout: 'default', public: true, title: '', parent: null } as const;
    expect(guardRoute(handOff, loading, at('/auth/github?code=1'))).toEqual({ outcome: 'allow' });
    expect(guardRoute({ ...handOff, layout: 'docs' }, loading, at('/auth/github'))).toEqual({ outcome: 'wait' });
  });

  it('offers a retry where the profile cannot be had, but not on public pages', () => {
    const failed: Visitor = { is: 'failed', permissions: [] };
    expect(guardRoute(ROUTES.instances, failed, at('/cloud/instances'))).toEqual({ outcome: 'error' });
    expect(guardRoute(ROUTES.forbidden, failed, at('/403'))).toEqual({ outcome: 'allow' });
  });

  it('sends a member without the permission to /403', () => {
    expect(guardRoute(ROUTES.instances, guest, at('/cloud/instances'))).toEqual({
      outcome: 'redirect',
      to: '/403',
      deniedRoute: ROUTES.instances,
    });
    expect(guardRoute(ROUTES.account, guest, at('/profile/account'))).toEqual({ outcome: 'allow' });
  });

  it('leads from /cloud to what the member may manage, else to the profile', () => {
    expect(cloudLandingPath(ROLE_PERMISSIONS.Developer)).toBe('/cloud/instances');
    expect(cloudLandingPath(['SELFHOSTED_INSTANCE_MANAGEMENT'])).toBe('/cloud/self-instances');
    expect(cloudLandingPath(ROLE_PERMISSIONS.Billing)).toBe('/profile');
  });
});
