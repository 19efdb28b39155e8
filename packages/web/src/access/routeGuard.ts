import { findAuthorizationRequest, looksLikeAuthorizationRequest } from '@stagi/contract/authorizationRequest.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import { allowedReturnUrl, safeReturnUrl } from '@stagi/contract/returnUrl.ts';
import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import { site } from '../api/site.ts';
import { paths } from '../paths.ts';

export interface Visitor {
  /** The state of the visitor's session and profile. */
  is: 'anonymous' | 'loading' | 'failed' | 'signed-in';
  permissions: readonly Permission[];
  /** Has not submitted the form that follows the first sign-in. */
  isNew?: boolean;
}

export type GuardVerdict =
  | { outcome: 'allow' }
  | { outcome: 'wait' }
  | { outcome: 'error' }
  /** To an address outside of this origin, which the operator allows. */
  | { outcome: 'leave'; to: string }
  | { outcome: 'redirect'; to: string /** Asks for a permission that the visitor lacks. */; deniedRoute?: Route };

/**
 * Authorizes a visitor for a route (specification sections 2 and 6). `url` is the whole requested address,
 * `returnUrls` the operator's allow-list of addresses to return to.
 */
export function guardRoute(
  route: Route,
  visitor: Visitor,
  url: URL,
  returnUrls: readonly string[] = site().returnUrlAllowList,
): GuardVerdict {
  const handOff = route.path === ROUTES.consent.path ? null : findAuthorizationRequest(url);
  if (handOff) return { outcome: 'redirect', to: towardsConsent(route, visitor, paths.consent(handOff)) };
  const isForm = route.path === ROUTES.signUpForm.path;
  if (visitor.is === 'anonymous') {
    const open = route.public === true || (route.layout === 'sign' && !isForm) || route.layout === 'home';
    return open
      ? { outcome: 'allow' }
      : { outcome: 'redirect', to: paths.signIn(url.pathname + url.search + url.hash) };
  }
  if (route.layout === 'sign' && !isForm) return afterSignIn(url, returnUrls);
  if (route.layout === 'home')
    return { outcome: 'redirect', to: paths.models() + (looksLikeAuthorizationRequest(url) ? url.search : '') };
  if (visitor.is === 'loading') return isHandOff(route, url) ? { outcome: 'allow' } : { outcome: 'wait' };
  if (visitor.is === 'failed')
    return route.public || isHandOff(route, url) ? { outcome: 'allow' } : { outcome: 'error' };
  if (isForm) return visitor.isNew ? { outcome: 'allow' } : afterSignIn(url, returnUrls);
  // The catalogue is open to visitors, but it is also where a session begins.
  if (visitor.isNew && (!route.public || route.demoNotice)) {
    return { outcome: 'redirect', to: paths.signUpForm(url.pathname + url.search + url.hash) };
  }
  if (route.permissions && !holdsAny(visitor.permissions, route.permissions)) {
    return {
      outcome: 'redirect',
      to: paths.forbidden(),
      deniedRoute: route,
    };
  }
  return { outcome: 'allow' };
}

/** An app's authorization request is kept as the return address through all steps of signing in. */
function towardsConsent(route: Route, visitor: Visitor, consent: string): string {
  if (visitor.is !== 'anonymous') return consent;
  return route.path === ROUTES.signUp.path ? paths.signUp(consent) : paths.signIn(consent);
}

/** On the return from an OAuth provider the default layout does not wait for the profile. */
function isHandOff(route: Route, url: URL): boolean {
  return route.layout === 'default' && url.pathname.includes('/auth/');
}

/** The first page of a session: the return address if it may be followed, else the root. An incomplete app request leads to the models. */
function afterSignIn(url: URL, returnUrls: readonly string[]): GuardVerdict {
  const returnUrl = url.searchParams.get('returnUrl');
  const target = returnTarget(returnUrl, url.origin, returnUrls);
  if (target) return target;
  return { outcome: 'redirect', to: looksLikeAuthorizationRequest(url) ? paths.models() + url.search : paths.home() };
}

/** Where a return address leads: outside of this origin only as the allow-list says; `null` when it is not followed. */
export function returnTarget(
  returnUrl: string | null | undefined,
  origin: string,
  returnUrls: readonly string[] = site().returnUrlAllowList,
): { outcome: 'leave' | 'redirect'; to: string } | null {
  const allowed = allowedReturnUrl(returnUrl, returnUrls);
  if (allowed !== null) return { outcome: 'leave', to: allowed };
  const path = safeReturnUrl(returnUrl, origin);
  return path === null ? null : { outcome: 'redirect', to: path };
}

/** The first page of the cloud that the visitor may manage, else their profile. */
export function cloudLandingPath(permissions: readonly Permission[]): string {
  if (permissions.includes('INSTANCE_RENTED_MANAGEMENT')) return paths.instances();
  if (permissions.includes('SELFHOSTED_INSTANCE_MANAGEMENT')) return paths.selfInstances();
  return paths.profile();
}
