import { type ReactNode, useEffect } from 'react';
import { Navigate, Outlet, useLocation, useParams } from 'react-router';
import { guardRoute, type Visitor } from '../access/routeGuard.ts';
import { errorText } from '../api/messages.ts';
import { type UserState, useUserState } from '../api/user.ts';
import { LazyNotFound } from '../errorPages/LazyNotFound.tsx';
import { useT } from '../i18n/i18n.ts';
import { useRoute } from '../navigation/useRoute.ts';
import { idIn } from '../paths.ts';
import { ErrorState } from '../ui/ErrorState.tsx';

/** Renders the page if the route guard allows it, else redirects, waits or shows the error. */
export function GuardedOutlet({ waiting = null }: { waiting?: ReactNode }) {
  const t = useT();
  const route = useRoute();
  const state = useUserState();
  const { pathname, search, hash, key } = useLocation();
  const { id } = useParams();

  const verdict = guardRoute(route, visitorOf(state), new URL(pathname + search + hash, origin()));
  switch (verdict.outcome) {
    case 'redirect':
      // The key makes two redirects in a row two elements, even when nothing is rendered between them.
      return <Navigate key={key} to={verdict.to} replace state={verdict.deniedRoute} />;
    case 'leave':
      return <Leave key={key} to={verdict.to} />;
    case 'wait':
      return waiting;
    case 'error':
      return state.is === 'failed' ? (
        <ErrorState
          title={t('Your account could not be loaded')}
          message={errorText(state.error)}
          onRetry={state.retry}
        />
      ) : null;
    case 'allow':
      return id !== undefined && idIn(id) === null ? <LazyNotFound /> : <Outlet />;
  }
}

/** Replaces the page, so that Back does not lead to the login of who is logged in. */
function Leave({ to }: { to: string }) {
  useEffect(() => window.location.replace(to), [to]);
  return null;
}

/** When prerendering, any origin does: nobody is signed in. */
const origin = () => (typeof window === 'undefined' ? 'http://localhost' : window.location.origin);

function visitorOf(state: UserState): Visitor {
  if (state.is !== 'signed-in') return { is: state.is, permissions: [] };
  const { permissions, profile } = state.user;
  return { is: 'signed-in', permissions, isNew: !profile.isSignupFormSubmitted };
}
