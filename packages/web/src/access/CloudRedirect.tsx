import { Navigate, useLocation } from 'react-router';
import { useUser } from '../api/user.ts';
import { cloudLandingPath } from './routeGuard.ts';

/** Redirects `/cloud` to its landing page and keeps the query. */
export function CloudRedirect() {
  const { search } = useLocation();
  return <Navigate to={cloudLandingPath(useUser().permissions) + search} replace />;
}
