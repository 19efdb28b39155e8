import type { EnterResponse } from '@stagi/contract/authResponse.ts';
import { useNavigate, useSearchParams } from 'react-router';
import { type AuthType, session } from '../../api/session.ts';
import { paths } from '../../paths.ts';
import { rememberSecondFactor } from './pendingSecondFactor.ts';

/**
 * The end of every way in: with tokens the session begins, and the guard of the layout leads on; who has a second
 * factor is asked for it first, with the return address kept.
 */
export function useEnter(): (answer: EnterResponse, type: AuthType, returnUrl?: string) => void {
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
