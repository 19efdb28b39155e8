import { handOffIn, looksLikeHandOff } from '@stagi/contract/handOff.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import { safeReturnUrl } from '@stagi/contract/returnUrl.ts';
import { pageExists, ROUTES, type Route } from '@stagi/contract/routes.ts';
import { paths } from '../paths.ts';

export interface Visitor {
  /** Nobody, somebody whose profile is not here yet, or somebody. */
  is: 'anonymous' | 'loading' | 'failed' | 'here';
  permissions: readonly Permission[];
  /** Has not sent the form that comes after the first sign-in. */
  isNew?: boolean;
}

export type GuardVerdict =
  | { go: 'in' }
  | { go: 'wait' }
  | { go: 'error' }
  | { go: 'elsewhere'; to: string /** What asks for a permission that they lack. */; lacks?: Route };

/** What a route answers a visitor (specification sections 2 and 6). `url` is the whole address asked for. */
export function guard(route: Route, visitor: Visitor, url: URL): GuardVerdict {
  const handOff = route.path === ROUTES.consent.path ? null : handOffIn(url);
  if (handOff) return { go: 'elsewhere', to: towardsConsent(route, visitor, paths.consent(handOff)) };
  const isForm = route.path === ROUTES.signUpForm.path;
  if (visitor.is === 'anonymous') {
    const open = route.public === true || (route.layout === 'sign' && !isForm) || route.layout === 'home';
    return open ? { go: 'in' } : { go: 'elsewhere', to: paths.signIn(url.pathname + url.search + url.hash) };
  }
  if (route.layout === 'sign' && !isForm) return { go: 'elsewhere', to: afterSignIn(url) };
  if (route.layout === 'home') return { go: 'elsewhere', to: paths.cloud() };
  if (visitor.is === 'loading') return isHandOff(route, url) ? { go: 'in' } : { go: 'wait' };
  if (visitor.is === 'failed') return route.public || isHandOff(route, url) ? { go: 'in' } : { go: 'error' };
  if (isForm) return visitor.isNew ? { go: 'in' } : { go: 'elsewhere', to: afterSignIn(url) };
  if (visitor.isNew && !route.public) {
    return { go: 'elsewhere', to: paths.signUpForm(url.pathname + url.search + url.hash) };
  }
  if (route.permissions && !holdsAny(visitor.permissions, route.permissions)) {
    return {
      go: 'elsewhere',
      to: paths.forbidden(),
      lacks: route,
    };
  }
  return { go: 'in' };
}

/** A request of an app goes along as the return address, whatever signing in takes. */
function towardsConsent(route: Route, visitor: Visitor, consent: string): string {
  if (visitor.is !== 'anonymous') return consent;
  return route.path === ROUTES.signUp.path ? paths.signUp(consent) : paths.signIn(consent);
}

/** The default layout does not wait for the profile on the way back from a code host. */
function isHandOff(route: Route, url: URL): boolean {
  return route.layout === 'default' && url.pathname.includes('/auth/');
}

/** Where a session begins: the return address when it is ours, else the root; models for half a request of an app. */
export function afterSignIn(url: URL): string {
  const returnUrl = safeReturnUrl(url.searchParams.get('returnUrl'), url.origin);
  if (returnUrl === null && looksLikeHandOff(url)) return MODELS + url.search;
  return returnUrl ?? paths.home();
}

/** Until the models are there the cloud stands in for them, as it does at the root. */
const MODELS = pageExists('/models') ? '/models' : '/cloud';

/** Where /cloud leads: to what the visitor may manage, else to their profile. */
export function cloudTarget(permissions: readonly Permission[]): string {
  if (permissions.includes('INSTANCE_RENTED_MANAGEMENT')) return paths.instances();
  if (permissions.includes('SELFHOSTED_INSTANCE_MANAGEMENT')) return paths.selfInstances();
  return paths.profile();
}
