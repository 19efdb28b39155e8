import { Navigate } from 'react-router';
import { useUser } from '../api/user.ts';
import { cloudTarget } from './guard.ts';

export function CloudStart() {
  return <Navigate to={cloudTarget(useUser().permissions)} replace />;
}
