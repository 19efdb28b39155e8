import type { SignInResponse } from '@stagi/contract/authResponse.ts';
import { useNavigate, useSearchParams } from 'react-router';
import { type AuthType, session } from '../../api/session.ts';
import { paths } from '../../paths.ts';
import { rememberSecondFactor } from './pendingSecondFactor.ts';

/**
 * The last step of every sign-in method. Starts the session, and the route guard redirects; with a second factor set
 * up, asks for that first and keeps the return address.
 */
export function useStartSession(): (answer: SignInResponse, type: AuthType, returnUrl?: string) => void {
  const navigate = useNavigate();
  const [params] = useSearchParams();
  return (answer, type, returnUrl = params.get('returnUrl') ?? undefined) => {
    if ('accessToken' in answer) {
      session.begin(answer, type);
      return;
    }
    rememberSecondFactor({ ...answer.secondFactor, type });
    void navigate(paths.secondFactor(returnUrl));
  };
}
