import type { ReactNode } from 'react';
import { Navigate, Outlet, useLocation, useParams } from 'react-router';
import { errorText } from '../api/messages.ts';
import { type UserState, useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { ErrorState } from '../ui/ErrorState.tsx';
import { guard, type Visitor } from './guard.ts';
import { NotFound } from './NotFound.tsx';
import { useRoute } from './useRoute.ts';

/** The page of the address when its route lets this visitor in; else what the route answers instead. */
export function Guarded({ waiting = null }: { waiting?: ReactNode }) {
  const t = useT();
  const route = useRoute();
  const state = useUserState();
  const { pathname, search, hash, key } = useLocation();
  const { id } = useParams();

  const verdict = guard(route, visitorOf(state), new URL(pathname + search + hash, origin()));
  switch (verdict.go) {
    case 'elsewhere':
      // Two addresses that are answered alike may follow so closely that nothing is drawn between them: each has its own.
      return <Navigate key={key} to={verdict.to} replace state={verdict.lacks} />;
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
    case 'in':
      return id !== undefined && !/^[1-9]\d{0,14}$/.test(id) ? <NotFound /> : <Outlet />;
  }
}

/** Of no weight where pages are drawn ahead: nobody is signed in there. */
const origin = () => (typeof window === 'undefined' ? 'http://localhost' : window.location.origin);

function visitorOf(state: UserState): Visitor {
  if (state.is !== 'here') return { is: state.is, permissions: [] };
  const { permissions, profile } = state.user;
  return { is: 'here', permissions, isNew: !profile.isSignupFormSubmitted };
}
