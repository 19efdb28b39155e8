import { findAuthorizationRequest, looksLikeAuthorizationRequest } from '@stagi/contract/authorizationRequest.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import { safeReturnUrl } from '@stagi/contract/returnUrl.ts';
import { pageExists, ROUTES, type Route } from '@stagi/contract/routes.ts';
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
  | { outcome: 'redirect'; to: string /** Asks for a permission that the visitor lacks. */; deniedRoute?: Route };

/** Authorizes a visitor for a route (specification sections 2 and 6). `url` is the whole requested address. */
export function guardRoute(route: Route, visitor: Visitor, url: URL): GuardVerdict {
  const handOff = route.path === ROUTES.consent.path ? null : findAuthorizationRequest(url);
  if (handOff) return { outcome: 'redirect', to: towardsConsent(route, visitor, paths.consent(handOff)) };
  const isForm = route.path === ROUTES.signUpForm.path;
  if (visitor.is === 'anonymous') {
    const open = route.public === true || (route.layout === 'sign' && !isForm) || route.layout === 'home';
    return open
      ? { outcome: 'allow' }
      : { outcome: 'redirect', to: paths.signIn(url.pathname + url.search + url.hash) };
  }
  if (route.layout === 'sign' && !isForm) return { outcome: 'redirect', to: pathAfterSignIn(url) };
  if (route.layout === 'home') return { outcome: 'redirect', to: paths.cloud() };
  if (visitor.is === 'loading') return isHandOff(route, url) ? { outcome: 'allow' } : { outcome: 'wait' };
  if (visitor.is === 'failed')
    return route.public || isHandOff(route, url) ? { outcome: 'allow' } : { outcome: 'error' };
  if (isForm) return visitor.isNew ? { outcome: 'allow' } : { outcome: 'redirect', to: pathAfterSignIn(url) };
  if (visitor.isNew && !route.public) {
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

/** The first page of a session: the return address if it is our own, else the root. An incomplete app request leads to the models. */
export function pathAfterSignIn(url: URL): string {
  const returnUrl = safeReturnUrl(url.searchParams.get('returnUrl'), url.origin);
  if (returnUrl === null && looksLikeAuthorizationRequest(url)) return MODELS + url.search;
  return returnUrl ?? paths.home();
}

/** While there is no models page, the cloud stands in for it. */
const MODELS = pageExists('/models') ? '/models' : '/cloud';

/** The first page of the cloud that the visitor may manage, else their profile. */
export function cloudLandingPath(permissions: readonly Permission[]): string {
  if (permissions.includes('INSTANCE_RENTED_MANAGEMENT')) return paths.instances();
  if (permissions.includes('SELFHOSTED_INSTANCE_MANAGEMENT')) return paths.selfInstances();
  return paths.profile();
}
