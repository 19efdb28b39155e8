import { Navigate, useLocation } from 'react-router';
import { useUser } from '../api/user.ts';
import { cloudTarget } from './guard.ts';

/** Leads on, and takes the query along. */
export function CloudStart() {
  const { search } = useLocation();
  return <Navigate to={cloudTarget(useUser().permissions) + search} replace />;
}
